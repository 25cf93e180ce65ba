// The two files that SQLite may touch for a state (resume_state.h): the state and its journal.
//
// SQLite by itself takes a journal from whoever put one there, waits for a pipe of that name, and removes the file that
// the journal names. In a folder that others may write to that is theirs to use. Here each file is judged by the
// descriptor that is read, so that nothing can be put in its place between the look and the use.
#pragma once

#include <sqlite3.h>
#include <sys/stat.h>

#include <string>

namespace whyoom {

class StateFiles {
 public:
  // What sqlite3_open_v2 is to be given as the name of the state, whatever its path is.
  static constexpr const char* kState = "state";

  // Opens the folder of `path`; makes nothing. Call why_refused next.
  explicit StateFiles(const std::string& path);
  ~StateFiles();  // after the connection is closed
  StateFiles(const StateFiles&) = delete;
  StateFiles& operator=(const StateFiles&) = delete;

  // What sqlite3_open_v2 is to be given as the file system: in it there are the state, its journal, and files without a
  // name.
  const char* vfs() const { return vfs_name_.c_str(); }

  // Why a file is not used, as a sentence that says what to do; empty where nothing was refused so far.
  const std::string& why_refused() const { return why_refused_; }

 private:
  struct Vfs;
  friend struct Vfs;

  std::string Beside(const char* ending) const { return name_ + ending; }
  bool Accepts(const struct stat& file, const std::string& name);
  bool Look(const std::string& name, bool* is_there);
  int OpenFile(const std::string& name, int how);
  void RefuseFor(const std::string& name, int error);

  std::string name_;  // of the state, within its folder
  int folder_ = -1;
  std::string why_refused_;
  std::string vfs_name_;
  sqlite3_vfs vfs_{};
};

}  // namespace whyoom
