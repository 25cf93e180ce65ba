#include "cli/state_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr const char* kJournal = "-journal";
constexpr std::string_view kJournalName = "state-journal";

// As SQLite's own files lock them, so that `sqlite3` and a whyoom that still uses those keep away.
constexpr off_t kLockBegin = 0x40000000;
constexpr off_t kLockBytes = 512;

// One that a closed file of the same name elsewhere in this process does not undo, where there is such a thing.
#ifdef F_OFD_SETLK
constexpr int kSetLock = F_OFD_SETLK;
#else
constexpr int kSetLock = F_SETLK;
#endif

template <typename Call>
auto Retried(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

// An open file, in memory that SQLite gives.
struct OwnFile {
  const sqlite3_io_methods* methods;
  int descriptor;
  int folder;
  const char* state;  // its name there
  int lock;
  bool is_new;

  static OwnFile& Of(sqlite3_file* file) { return *reinterpret_cast<OwnFile*>(file); }
};

int Close(sqlite3_file* file) {
  close(OwnFile::Of(file).descriptor);
  return SQLITE_OK;
}

int Read(sqlite3_file* file, void* buffer, int amount, sqlite3_int64 offset) {
  auto* bytes = static_cast<char*>(buffer);
  auto wanted = static_cast<std::size_t>(amount);
  while (wanted > 0) {
    const ssize_t got = Retried([&] { return pread(OwnFile::Of(file).descriptor, bytes, wanted, offset); });
    if (got < 0) return SQLITE_IOERR_READ;
    if (got == 0) {
      std::memset(bytes, 0, wanted);  // as SQLite asks for
      return SQLITE_IOERR_SHORT_READ;
    }
    bytes += got;
    offset += got;
    wanted -= static_cast<std::size_t>(got);
  }
  return SQLITE_OK;
}

int Write(sqlite3_file* file, const void* buffer, int amount, sqlite3_int64 offset) {
  const auto* bytes = static_cast<const char*>(buffer);
  auto left = static_cast<std::size_t>(amount);
  while (left > 0) {
    const ssize_t put = Retried([&] { return pwrite(OwnFile::Of(file).descriptor, bytes, left, offset); });
    if (put < 0 && errno != ENOSPC && errno != EDQUOT) return SQLITE_IOERR_WRITE;
    if (put <= 0) return SQLITE_FULL;
    bytes += put;
    offset += put;
    left -= static_cast<std::size_t>(put);
  }
  return SQLITE_OK;
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  const int result = Retried([&] { return ftruncate(OwnFile::Of(file).descriptor, size); });
  return result == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

// The folder's list of names, too: a journal that is lost with the power cannot undo what was half written.
void SyncFolder(int folder) {
  const int list = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (list < 0) return;
  fsync(list);
  close(list);
}

int Sync(sqlite3_file* file, int /*how*/) {
  OwnFile& one = OwnFile::Of(file);
  if (fsync(one.descriptor) != 0) return SQLITE_IOERR_FSYNC;
  if (std::exchange(one.is_new, false)) SyncFolder(one.folder);
  return SQLITE_OK;
}

int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  struct stat status {};
  if (fstat(OwnFile::Of(file).descriptor, &status) != 0) return SQLITE_IOERR_FSTAT;
  *size = status.st_size;
  return SQLITE_OK;
}

int SetLock(const OwnFile& file, int kind) {
  struct flock lock {};
  lock.l_type = static_cast<short>(kind);
  lock.l_whence = SEEK_SET;
  lock.l_start = kLockBegin;
  lock.l_len = kLockBytes;
  return Retried([&] { return fcntl(file.descriptor, kSetLock, &lock); });
}

// A state is one run's alone, from the first look on.
int Lock(sqlite3_file* file, int level) {
  OwnFile& one = OwnFile::Of(file);
  if (one.lock == SQLITE_LOCK_NONE && level > SQLITE_LOCK_NONE && SetLock(one, F_WRLCK) != 0)
    return errno == EAGAIN || errno == EACCES ? SQLITE_BUSY : SQLITE_IOERR_LOCK;
  one.lock = std::max(one.lock, level);
  return SQLITE_OK;
}

int Unlock(sqlite3_file* file, int level) {
  OwnFile& one = OwnFile::Of(file);
  if (level == SQLITE_LOCK_NONE && one.lock > SQLITE_LOCK_NONE && SetLock(one, F_UNLCK) != 0)
    return SQLITE_IOERR_UNLOCK;
  one.lock = std::min(one.lock, level);
  return SQLITE_OK;
}

int IsReserved(sqlite3_file* file, int* reserved) {
  *reserved = OwnFile::Of(file).lock >= SQLITE_LOCK_RESERVED ? 1 : 0;
  return SQLITE_OK;
}

// Of the state alone SQLite asks whether it still has its name.
int Control(sqlite3_file* file, int what, void* answer) {
  if (what != SQLITE_FCNTL_HAS_MOVED) return SQLITE_NOTFOUND;
  const OwnFile& one = OwnFile::Of(file);
  struct stat open {};
  struct stat named {};
  const bool same = fstat(one.descriptor, &open) == 0 &&
                    fstatat(one.folder, one.state, &named, AT_SYMLINK_NOFOLLOW) == 0 && open.st_dev == named.st_dev &&
                    open.st_ino == named.st_ino;
  *static_cast<int*>(answer) = same ? 0 : 1;
  return SQLITE_OK;
}

int SectorSize(sqlite3_file* /*file*/) { return 4096; }
int Characteristics(sqlite3_file* /*file*/) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }  // as SQLite's own for Unix

// No shared memory, so that there can be no -wal and no -shm.
constexpr sqlite3_io_methods kMethods = {
    1,          Close,           Read,    Write,   Truncate, Sync,    FileSize, Lock,   Unlock, IsReserved, Control,
    SectorSize, Characteristics, nullptr, nullptr, nullptr,  nullptr, nullptr,  nullptr};

}  // namespace

// What SQLite calls of a file system.
struct StateFiles::Vfs {
  static StateFiles& Of(sqlite3_vfs* vfs) { return *static_cast<StateFiles*>(vfs->pAppData); }
  static sqlite3_vfs* System() { return sqlite3_vfs_find(nullptr); }

  // Within the folder; empty for what is no file of a state, as the one that a foreign journal wants to have removed.
  static std::string NameOf(const StateFiles& files, const char* name) {
    if (name == std::string_view(kState)) return files.name_;
    return name == kJournalName ? files.Beside(kJournal) : "";
  }

  static int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* given) {
    file->pMethods = nullptr;
    if (name == nullptr) return System()->xOpen(System(), name, file, flags, given);  // removed before it has a name
    StateFiles& files = Of(vfs);
    const std::string own = NameOf(files, name);
    if (own.empty()) return SQLITE_CANTOPEN;
    bool was_there = false;
    if (!files.Look(own, &was_there)) return SQLITE_CANTOPEN;
    const int how = (flags & SQLITE_OPEN_READWRITE) != 0 ? O_RDWR : O_RDONLY;
    const int descriptor = files.OpenFile(own, how | ((flags & SQLITE_OPEN_CREATE) != 0 ? O_CREAT : 0));
    if (descriptor < 0) return SQLITE_CANTOPEN;
    new (file) OwnFile{&kMethods, descriptor, files.folder_, files.name_.c_str(), SQLITE_LOCK_NONE, !was_there};
    if (given != nullptr) *given = flags;
    return SQLITE_OK;
  }

  static int Remove(sqlite3_vfs* vfs, const char* name, int sync) {
    const StateFiles& files = Of(vfs);
    if (name != kJournalName) return SQLITE_IOERR_DELETE;
    if (unlinkat(files.folder_, files.Beside(kJournal).c_str(), 0) != 0)
      return errno == ENOENT ? SQLITE_IOERR_DELETE_NOENT : SQLITE_IOERR_DELETE;
    if (sync != 0) SyncFolder(files.folder_);
    return SQLITE_OK;
  }

  static int Access(sqlite3_vfs* vfs, const char* name, int /*what*/, int* answer) {
    StateFiles& files = Of(vfs);
    const std::string own = NameOf(files, name);
    bool is_there = false;
    if (!own.empty() && !files.Look(own, &is_there)) return SQLITE_IOERR_ACCESS;
    *answer = is_there ? 1 : 0;
    return SQLITE_OK;
  }

  static int FullName(sqlite3_vfs* /*vfs*/, const char* name, int size, char* full) {
    sqlite3_snprintf(size, full, "%s", name);
    return SQLITE_OK;
  }

  static int Randomness(sqlite3_vfs* /*vfs*/, int size, char* bytes) {
    return System()->xRandomness(System(), size, bytes);
  }
  static int Sleep(sqlite3_vfs* /*vfs*/, int microseconds) { return System()->xSleep(System(), microseconds); }
  static int Now(sqlite3_vfs* /*vfs*/, double* days) { return System()->xCurrentTime(System(), days); }
  static int LastError(sqlite3_vfs* /*vfs*/, int /*size*/, char* /*text*/) { return errno; }
};

StateFiles::StateFiles(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  name_ = slash == std::string::npos ? path : path.substr(slash + 1);
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
#ifdef O_PATH
  constexpr int kHow = O_PATH;  // needs no right to list it
#else
  constexpr int kHow = O_RDONLY;
#endif
  folder_ = open(folder.c_str(), kHow | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) {
    RefuseFor("its folder", errno);
    return;
  }
  // All that SQLite would use by itself; the last two are never made.
  for (const char* ending : {"", kJournal, "-wal", "-shm"}) {
    bool is_there = false;
    if (!Look(Beside(ending), &is_there)) return;
  }
  vfs_name_ = fmt::format("whyoom-{}", static_cast<const void*>(this));
  vfs_.iVersion = 1;
  vfs_.szOsFile = std::max<int>(sizeof(OwnFile), Vfs::System()->szOsFile);
  vfs_.mxPathname = 64;
  vfs_.zName = vfs_name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = Vfs::Open;
  vfs_.xDelete = Vfs::Remove;
  vfs_.xAccess = Vfs::Access;
  vfs_.xFullPathname = Vfs::FullName;
  vfs_.xRandomness = Vfs::Randomness;
  vfs_.xSleep = Vfs::Sleep;
  vfs_.xCurrentTime = Vfs::Now;
  vfs_.xGetLastError = Vfs::LastError;
  sqlite3_vfs_register(&vfs_, 0);
}

StateFiles::~StateFiles() {
  if (vfs_.zName != nullptr) sqlite3_vfs_unregister(&vfs_);
  if (folder_ >= 0) close(folder_);
}

void StateFiles::RefuseFor(const std::string& name, int error) {
  if (why_refused_.empty())
    why_refused_ = fmt::format("{} cannot be opened: {}", name == name_ ? "it" : Printable(name), std::strerror(error));
}

// Somebody else's would be believed, and one with a second name would cost what that is the name of.
bool StateFiles::Accepts(const struct stat& file, const std::string& name) {
  const bool is_state = name == name_;
  const std::string subject = is_state ? "it" : Printable(name);
  std::string why;
  if (S_ISLNK(file.st_mode)) {
    why = fmt::format("{} is a link, which is not followed; {}", subject,
                      is_state ? "give the name of the file itself" : "remove it, or give a file in another folder");
  } else if (!S_ISREG(file.st_mode)) {
    why = is_state ? "it is no state of whyoom; give the name of another file"
                   : fmt::format("{} is no file; remove it, or give a file in another folder", subject);
  } else if (file.st_uid != geteuid()) {
    why = fmt::format("{} belongs to another user (number {}), who may have written anything into it; {}", subject,
                      file.st_uid,
                      is_state ? "give a file of your own" : "give a file in a folder that nobody else can write to");
  } else if (file.st_nlink > 1) {
    why = fmt::format("{} has a second name, and what has that would be overwritten; {}", subject,
                      is_state ? "give the name of another file" : "remove it, or give a file in another folder");
  }
  if (why_refused_.empty()) why_refused_ = why;
  return why.empty();
}

// False where there is something that is not to be used.
bool StateFiles::Look(const std::string& name, bool* is_there) {
  struct stat status {};
  *is_there = fstatat(folder_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (*is_there) return Accepts(status, name);
  if (errno == ENOENT) return true;
  RefuseFor(name, errno);
  return false;
}

// -1 where it cannot be opened, or is not to be used.
int StateFiles::OpenFile(const std::string& name, int how) {
  // Not to wait for the writer of a pipe that was put there since Look.
  constexpr int kCareful = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const int file = Retried([&] { return openat(folder_, name.c_str(), how | kCareful, 0644); });
  if (file < 0) {
    // SQLite looks for a journal of which there is none, too.
    if (errno != ENOENT || (how & O_CREAT) != 0) RefuseFor(name, errno);
    return -1;
  }
  struct stat status {};
  if (fstat(file, &status) == 0 && Accepts(status, name)) return file;
  close(file);
  return -1;
}

}  // namespace whyoom
