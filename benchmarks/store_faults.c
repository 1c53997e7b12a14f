/* Loaded before the C library (LD_PRELOAD): the n-th call that changes something under
   $FAULTS_FOLDER finds the disk full, once (0) or from then on (1), or kills the process
   (2).  Half of what that call was to write is written first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long target = -1, calls = 0;
static int mode = 0;

void faults_arm(long call, int how) { calls = 0; target = call; mode = how; }
long faults_calls(void) { return calls; }

static int within(const char *path) {
    const char *folder = getenv("FAULTS_FOLDER");
    return folder && path && strstr(path, folder) != NULL;
}
static int is_ours(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    path[size < 0 ? 0 : size] = 0;
    return within(path);
}
static int is_next(void) { return target >= 0 && calls == target; }
static int fails(void) {
    long now = calls++;
    if (target < 0 || now < target || (now > target && mode != 1)) return 0;
    if (mode == 2) raise(SIGKILL);
    errno = ENOSPC;
    return 1;
}
#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
ssize_t write(int f, const void *b, size_t n) {
    if (!is_ours(f)) return REAL(write)(f, b, n);
    if (is_next()) (void)!REAL(write)(f, b, n / 2);
    return fails() ? -1 : REAL(write)(f, b, n);
}
ssize_t pwrite64(int f, const void *b, size_t n, off64_t o) {
    if (!is_ours(f)) return REAL(pwrite64)(f, b, n, o);
    if (is_next()) (void)!REAL(pwrite64)(f, b, n / 2, o);
    return fails() ? -1 : REAL(pwrite64)(f, b, n, o);
}
ssize_t pwrite(int f, const void *b, size_t n, off_t o) { return pwrite64(f, b, n, o); }
int fsync(int f) { return is_ours(f) && fails() ? -1 : REAL(fsync)(f); }
int fdatasync(int f) { return is_ours(f) && fails() ? -1 : REAL(fdatasync)(f); }
int ftruncate64(int f, off64_t n) { return is_ours(f) && fails() ? -1 : REAL(ftruncate64)(f, n); }
int ftruncate(int f, off_t n) { return ftruncate64(f, n); }
int rename(const char *a, const char *b) { return within(b) && fails() ? -1 : REAL(rename)(a, b); }
int unlink(const char *a) { return within(a) && fails() ? -1 : REAL(unlink)(a); }
int mkdir(const char *a, mode_t m) { return within(a) && fails() ? -1 : REAL(mkdir)(a, m); }
#define OPEN(name) int name(const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); mode_t m = va_arg(rest, mode_t); va_end(rest); \
    return (flags & O_CREAT) && within(path) && fails() ? -1 : REAL(name)(path, flags, m); }
OPEN(open)
OPEN(open64)
