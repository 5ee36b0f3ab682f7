/* System calls that fail, or that the process does not live to see: loaded before the C library (LD_PRELOAD).
 *
 * Only calls that concern files under SHIM_ROOT are counted, in the order in which they are made by all threads:
 *   SHIM_CALLS  names of calls that count, like "write,fdatasync"; all that are known here if it is empty
 *   SHIM_AT     the number of the call that is hit, from 1; none if it is 0
 *   SHIM_DO     "exit": the process ends before the call, as if it were killed; "short": half of a write or read;
 *               or an errno, with which the call fails without having done anything
 *   SHIM_KEEP   if set, all later calls that count are hit, too
 *   SHIM_LOG    a file that gets a line for each call that counts: its name and the path
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *root, *calls, *what;
static size_t root_length;
static long at;
static int keep, log_descriptor = -1;
static atomic_long count;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("SHIM_LOG");
    root = getenv("SHIM_ROOT");
    calls = getenv("SHIM_CALLS");
    what = getenv("SHIM_DO");
    at = getenv("SHIM_AT") ? atol(getenv("SHIM_AT")) : 0;
    keep = getenv("SHIM_KEEP") != NULL;
    root_length = root ? strlen(root) : 0;
    if (path) {
        int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
        log_descriptor = real(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
}

/* The same settings, for a process that was forked from one that has loaded this. */
void shim_arm(const char *new_root, const char *new_calls, long new_at, const char *new_what, int new_keep) {
    root = strdup(new_root);
    root_length = strlen(root);
    calls = strdup(new_calls);
    what = strdup(new_what);
    at = new_at;
    keep = new_keep;
    atomic_store(&count, 0);
}

/* How many calls have counted. */
long shim_count(void) { return atomic_load(&count); }

static int named(const char *call) {
    if (!calls || !*calls) return 1;
    size_t length = strlen(call);
    for (const char *found = strstr(calls, call); found; found = strstr(found + 1, call))
        if ((found == calls || found[-1] == ',') && (found[length] == ',' || !found[length])) return 1;
    return 0;
}

enum hit { PASS, FAIL, SHORT };

static enum hit strike(const char *call, const char *path) {
    if (!root_length || strncmp(path, root, root_length) || !named(call)) return PASS;
    long number = atomic_fetch_add(&count, 1) + 1;
    if (log_descriptor >= 0) dprintf(log_descriptor, "%s %s\n", call, path);
    if (!at || (keep ? number < at : number != at)) return PASS;
    if (!strcmp(what, "exit")) _exit(137);
    if (!strcmp(what, "short")) return SHORT;
    errno = atoi(what);
    return FAIL;
}

static enum hit strike_at(const char *call, int directory, const char *path) {
    char whole[PATH_MAX * 2], link[64];
    if (path[0] == '/' || directory == AT_FDCWD) return strike(call, path);
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, whole, PATH_MAX);
    if (length < 0) return PASS;
    snprintf(whole + length, sizeof whole - length, "/%s", path);
    return strike(call, whole);
}

static enum hit strike_open(const char *call, int descriptor) {
    char path[PATH_MAX + 1], link[64];
    if (descriptor == log_descriptor) return PASS;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX);
    if (length < 0) return PASS;
    path[length] = 0;
    return strike(call, path);
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static mode_t mode_of(int flags, va_list rest) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

/* Opening to read, to make a file, and to make one without a name are counted apart. */
static const char *opening(int flags) {
    return (flags & O_TMPFILE) == O_TMPFILE ? "tmpfile" : flags & O_CREAT ? "create" : "open";
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        return strike(opening(flags), path) == FAIL ? -1 : real(path, flags, mode); \
    }
#define OPENAT(name) \
    int name(int directory, const char *path, int flags, ...) { \
        REAL(name); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        return strike_at(opening(flags), directory, path) == FAIL ? -1 : real(directory, path, flags, mode); \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

#define DESCRIPTOR(name) \
    int name(int descriptor) { \
        REAL(name); \
        return strike_open(#name, descriptor) == FAIL ? -1 : real(descriptor); \
    }
DESCRIPTOR(fsync)
DESCRIPTOR(fdatasync)
DESCRIPTOR(syncfs)

/* What fails to be closed is closed all the same. */
int close(int descriptor) {
    REAL(close);
    enum hit hit = strike_open("close", descriptor);
    int cause = errno, done = real(descriptor);
    if (hit != FAIL) return done;
    errno = cause;
    return -1;
}

#define CALL(name, type, hit, pass) \
    int name type { \
        REAL(name); \
        return hit == FAIL ? -1 : real pass; \
    }
CALL(unlink, (const char *path), strike("unlink", path), (path))
CALL(unlinkat, (int directory, const char *path, int flags),
     strike_at(flags & AT_REMOVEDIR ? "rmdir" : "unlink", directory, path), (directory, path, flags))
CALL(mkdir, (const char *path, mode_t mode), strike("mkdir", path), (path, mode))
CALL(rmdir, (const char *path), strike("rmdir", path), (path))
CALL(rename, (const char *old, const char *new), strike("rename", new), (old, new))
CALL(renameat, (int from, const char *old, int to, const char *new), strike_at("rename", to, new), (from, old, to, new))
CALL(link, (const char *old, const char *new), strike("link", new), (old, new))
CALL(linkat, (int from, const char *old, int to, const char *new, int flags), strike_at("link", to, new),
     (from, old, to, new, flags))
CALL(ftruncate, (int descriptor, off_t length), strike_open("ftruncate", descriptor), (descriptor, length))
CALL(ftruncate64, (int descriptor, off64_t length), strike_open("ftruncate", descriptor), (descriptor, length))
CALL(flock, (int descriptor, int operation), strike_open("flock", descriptor), (descriptor, operation))

#define MOVE(name, call, buffer) \
    ssize_t name(int descriptor, buffer *bytes, size_t length) { \
        REAL(name); \
        enum hit hit = strike_open(call, descriptor); \
        if (hit == FAIL) return -1; \
        return real(descriptor, bytes, hit == SHORT && length > 1 ? length / 2 : length); \
    }
#define MOVE_AT(name, call, buffer, where) \
    ssize_t name(int descriptor, buffer *bytes, size_t length, where offset) { \
        REAL(name); \
        enum hit hit = strike_open(call, descriptor); \
        if (hit == FAIL) return -1; \
        return real(descriptor, bytes, hit == SHORT && length > 1 ? length / 2 : length, offset); \
    }
MOVE(write, "write", const void)
MOVE(read, "read", void)
MOVE_AT(pread, "read", void, off_t)
MOVE_AT(pread64, "read", void, off64_t)
MOVE_AT(pwrite, "write", const void, off_t)
MOVE_AT(pwrite64, "write", const void, off64_t)

ssize_t writev(int descriptor, const struct iovec *parts, int number) {
    REAL(writev);
    enum hit hit = strike_open("write", descriptor);
    if (hit == FAIL) return -1;
    return hit == SHORT ? write(descriptor, parts[0].iov_base, parts[0].iov_len) : real(descriptor, parts, number);
}

ssize_t preadv(int descriptor, const struct iovec *parts, int number, off_t offset) {
    REAL(preadv);
    enum hit hit = strike_open("read", descriptor);
    if (hit == FAIL) return -1;
    return hit == SHORT ? pread(descriptor, parts[0].iov_base, parts[0].iov_len, offset)
                        : real(descriptor, parts, number, offset);
}

ssize_t preadv64(int descriptor, const struct iovec *parts, int number, off64_t offset) {
    REAL(preadv64);
    enum hit hit = strike_open("read", descriptor);
    if (hit == FAIL) return -1;
    return hit == SHORT ? pread64(descriptor, parts[0].iov_base, parts[0].iov_len, offset)
                        : real(descriptor, parts, number, offset);
}

static int is_lock(int command) {
    return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

#define CONTROL(name) \
    int name(int descriptor, int command, ...) { \
        REAL(name); \
        va_list rest; \
        va_start(rest, command); \
        void *argument = va_arg(rest, void *); \
        va_end(rest); \
        if (is_lock(command) && strike_open("lock", descriptor) == FAIL) return -1; \
        return real(descriptor, command, argument); \
    }
CONTROL(fcntl)
CONTROL(fcntl64)
