/* Loaded before the C library (LD_PRELOAD): lets the n-th call that changes something under $FAULTS_FOLDER find the
   disk full, once or from then on, kills the process there (1), or interrupts it (2). Half of what a call was to write is written first. */
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
#include <sys/uio.h>
#include <unistd.h>

static long countdown = -1, calls = 0;
static int lasting = 0, killing = 0;
static char hit[64];

void faults_arm(long after, int stays, int kills) { calls = 0; hit[0] = 0; countdown = after; lasting = stays; killing = kills; }
long faults_calls(void) { return calls; }
const char *faults_hit(void) { return hit; }

static int within(const char *path) {
    const char *folder = getenv("FAULTS_FOLDER");
    return folder && path && strstr(path, folder) != NULL;
}
static int of(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return within(path);
}
static int fails(const char *what) {
    long now = __sync_fetch_and_add(&calls, 1);
    if (countdown < 0 || now < countdown || (now > countdown && !lasting)) return 0;
    if (now == countdown) snprintf(hit, sizeof hit, "%s", what);
    if (killing == 2) return raise(SIGINT);
    if (killing) raise(SIGKILL);
    errno = ENOSPC;
    return 1;
}
#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
static int planned(void) { return countdown >= 0 && calls == countdown; }
ssize_t write(int fd, const void *b, size_t n) {
    if (!of(fd)) return REAL(write)(fd, b, n);
    if (planned()) (void)!REAL(write)(fd, b, n / 2);
    return fails("write") ? -1 : REAL(write)(fd, b, n);
}
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) {
    if (!of(fd)) return REAL(pwrite)(fd, b, n, o);
    if (planned()) (void)!REAL(pwrite)(fd, b, n / 2, o);
    return fails("pwrite") ? -1 : REAL(pwrite)(fd, b, n, o);
}
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) { return pwrite(fd, b, n, o); }
ssize_t writev(int fd, const struct iovec *v, int n) { return of(fd) && fails("writev") ? -1 : REAL(writev)(fd, v, n); }
int fsync(int fd) { return of(fd) && fails("fsync") ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return of(fd) && fails("fdatasync") ? -1 : REAL(fdatasync)(fd); }
int ftruncate(int fd, off_t n) { return of(fd) && fails("ftruncate") ? -1 : REAL(ftruncate)(fd, n); }
int ftruncate64(int fd, off64_t n) { return of(fd) && fails("ftruncate") ? -1 : REAL(ftruncate64)(fd, n); }
int fallocate(int fd, int m, off_t o, off_t n) { return of(fd) && fails("fallocate") ? -1 : REAL(fallocate)(fd, m, o, n); }
int posix_fallocate(int fd, off_t o, off_t n) { return of(fd) && fails("fallocate") ? ENOSPC : REAL(posix_fallocate)(fd, o, n); }
int rename(const char *a, const char *b) { return within(b) && fails("rename") ? -1 : REAL(rename)(a, b); }
int renameat(int d, const char *a, int e, const char *b) { return within(b) && fails("rename") ? -1 : REAL(renameat)(d, a, e, b); }
int renameat2(int d, const char *a, int e, const char *b, unsigned f) { return within(b) && fails("rename") ? -1 : REAL(renameat2)(d, a, e, b, f); }
int mkdir(const char *a, mode_t m) { return within(a) && fails("mkdir") ? -1 : REAL(mkdir)(a, m); }
#define OPEN(name) int name(const char *path, int flags, ...) { \
    mode_t mode = 0; va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); \
    return (flags & O_CREAT) && within(path) && fails("open") ? -1 : REAL(name)(path, flags, mode); }
OPEN(open)
OPEN(open64)
#define OPENAT(name) int name(int at, const char *path, int flags, ...) { \
    mode_t mode = 0; va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); \
    return (flags & O_CREAT) && within(path) && fails("open") ? -1 : REAL(name)(at, path, flags, mode); }
OPENAT(openat)
OPENAT(openat64)
