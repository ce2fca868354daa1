/*
 * hd.h - macros that let one header serve gcc, clang and nvcc.
 *
 * A function that must give the same bits on host and device is written once, as an SL_HD function
 * in a header. Such headers use only what C17 and C++ have in common; -Wc++-compat checks that in
 * every build.
 */
#ifndef SL_PRIMITIVES_BASE_HD_H
#define SL_PRIMITIVES_BASE_HD_H

#ifdef __cplusplus
#define SL_C_BEGIN extern "C" {
#define SL_C_END   }
#else
#define SL_C_BEGIN
#define SL_C_END
#endif

/*
 * Part of the interface of the C library: visible to programs that link it. All other symbols are
 * hidden (-fvisibility=hidden).
 */
#ifdef __GNUC__
#define SL_API __attribute__((visibility("default")))
#else
#define SL_API
#endif

/* Not part of that interface, but visible to external models (pipeline/external), which call it. */
#define SL_FOR_MODELS SL_API

/* A function that is compiled for the host and for the device. */
#ifdef __CUDACC__
#define SL_HD __host__ __device__ static inline
#else
#define SL_HD static inline
#endif

/* The same, always inlined: for functions whose cost depends on the constants of the caller. */
#ifdef __CUDACC__
#define SL_HD_PART __host__ __device__ static __forceinline__
#elif defined(__GNUC__)
#define SL_HD_PART __attribute__((always_inline)) static inline
#else
#define SL_HD_PART static inline
#endif

/* The compiler checks printf-style arguments: parameter `text` is the format. */
#ifdef __GNUC__
#define SL_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define SL_PRINTF(text, first)
#endif

#endif
