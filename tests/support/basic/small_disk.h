/*
 * small_disk.h - a tmpfs of a given size, for tests of full disks.
 *
 * It is mounted in a mount namespace of the test program, whose children see it too. In a chroot the
 * namespace can still pass mounts on to the outside, so a test unmounts what it has mounted.
 */
#ifndef SL_TESTS_SUPPORT_BASIC_SMALL_DISK_H
#define SL_TESTS_SUPPORT_BASIC_SMALL_DISK_H

/*
 * Makes the folder path and mounts a tmpfs there; options are those of mount(8), such as "size=2m". Skips
 * the test if this process may not mount.
 */
void small_disk_mount(const char *path, const char *options);

/* Changes the options. Returns 0, or -1 if the size is smaller than the files need. */
int small_disk_change(const char *path, const char *options);

/* Unmounts the disk and removes the folder. */
void small_disk_unmount(const char *path);

#endif
