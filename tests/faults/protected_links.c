/* Emulates fs.protected_symlinks=1 on kernels without it: in a sticky, world-writable folder, a link is followed only
   if the user or the folder's owner owns it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refused(const char* path) {
  struct stat link, folder;
  char copy[PATH_MAX];
  if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode)) return 0;
  strncpy(copy, path, sizeof copy - 1);
  copy[sizeof copy - 1] = 0;
  if (lstat(dirname(copy), &folder) != 0) return 0;
  if ((folder.st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH)) return 0;
  if (link.st_uid == geteuid() || link.st_uid == folder.st_uid) return 0;
  errno = EACCES;
  return 1;
}

int stat(const char* path, struct stat* status) { return refused(path) ? -1 : fstatat(AT_FDCWD, path, status, 0); }

int access(const char* path, int mode) { return refused(path) ? -1 : faccessat(AT_FDCWD, path, mode, 0); }

static int open_it(const char* path, int how, int mode) {
  return !(how & O_NOFOLLOW) && refused(path) ? -1 : openat(AT_FDCWD, path, how, mode);
}

#define OPEN(NAME)                           \
  int NAME(const char* path, int how, ...) { \
    va_list more;                            \
    va_start(more, how);                     \
    const int mode = va_arg(more, int);      \
    va_end(more);                            \
    return open_it(path, how, mode);         \
  }
OPEN(open)
OPEN(open64)
