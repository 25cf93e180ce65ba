#include "cli/file_stamp.h"

#include <sys/stat.h>

namespace whyoom {

FileStamp StampOf(const std::string& path) {
  struct stat status {};
  if (path == "-" || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  FileStamp stamp;
  stamp.regular = true;
  stamp.size = static_cast<std::uint64_t>(status.st_size);
#ifdef __APPLE__
  const timespec& modified = status.st_mtimespec;
#else
  const timespec& modified = status.st_mtim;
#endif
  stamp.modified = std::int64_t{modified.tv_sec} * 1'000'000'000 + modified.tv_nsec;
  stamp.device = static_cast<std::uint64_t>(status.st_dev);
  stamp.inode = static_cast<std::uint64_t>(status.st_ino);
  return stamp;
}

}  // namespace whyoom
