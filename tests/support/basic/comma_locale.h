/* comma_locale.h - a locale with a decimal comma, for tests whose results no locale may change. */
#ifndef SL_TESTS_SUPPORT_BASIC_COMMA_LOCALE_H
#define SL_TESTS_SUPPORT_BASIC_COMMA_LOCALE_H

/*
 * Compiles such a locale with localedef and sets it for this process. Skips the running test if that
 * is impossible. The caller resets it with setlocale(LC_ALL, "C").
 */
void set_comma_locale(void);

#endif
