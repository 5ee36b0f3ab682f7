/* Preloaded into a child: a file system that cannot lock, as some network file systems cannot. The number to fail with is
   in NO_LOCKS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>

static int refused(void) {
    const char *number = getenv("NO_LOCKS");
    if (number == NULL)
        return 0;
    errno = atoi(number);
    return 1;
}

static int passed_on(const char *name, int descriptor, int command, void *argument) {
    int (*real)(int, int, void *) = (int (*)(int, int, void *))dlsym(RTLD_NEXT, name);
    if ((command == F_OFD_SETLK || command == F_OFD_SETLKW) && refused())
        return -1;
    return real(descriptor, command, argument);
}

int fcntl(int descriptor, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return passed_on("fcntl", descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return passed_on("fcntl64", descriptor, command, argument);
}

int flock(int descriptor, int operation) {
    int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");
    return refused() ? -1 : real(descriptor, operation);
}
