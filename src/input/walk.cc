#include "input/walk.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace whyoom {
namespace {

namespace fs = std::filesystem;

class Walker {
 public:
  Walker(const std::function<void(const Artifact&)>& visit, const std::function<void(const Problem&)>& problem)
      : visit_(visit), problem_(problem) {}

  void Named(const std::string& name) {
    if (name == "-") return visit_({name, ""});
    std::error_code error;
    const fs::file_status status = fs::status(name, error);
    if (fs::is_directory(status)) {
      root_ = fs::canonical(name, error);
      return Folder(name);
    }
    const bool readable_kind = fs::is_regular_file(status) || fs::is_fifo(status) || fs::is_character_file(status) ||
                               fs::is_block_file(status);
    File(name, status, readable_kind, error);
  }

 private:
  void Tell(const fs::path& path, const std::string& what) { problem_({path.string(), "", what}); }

  void Folder(const fs::path& folder) {
    std::error_code error;
    std::vector<std::string> names;
    fs::directory_iterator entry(folder, error);
    while (!error && entry != fs::directory_iterator()) {
      names.push_back(entry->path().filename().string());
      entry.increment(error);
    }
    if (error) Tell(folder, "cannot list it: " + error.message());
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) Entry(folder / name);
  }

  void Entry(const fs::path& path) {
    std::error_code error;
    if (fs::is_directory(fs::symlink_status(path, error))) return Folder(path);
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) return LinkedFolder(path);
    File(path, status, fs::is_regular_file(status), error);
  }

  // A link inside a tree could loop. One that points into the tree ("latest-run") hides nothing from us.
  void LinkedFolder(const fs::path& path) {
    std::error_code error;
    const fs::path target = fs::canonical(path, error);
    const auto differ = std::mismatch(root_.begin(), root_.end(), target.begin(), target.end());
    if (!error && !root_.empty() && differ.first == root_.end()) return;
    Tell(path, "it is a symbolic link to a folder and was not followed");
  }

  void File(const fs::path& path, const fs::file_status& status, bool readable_kind, const std::error_code& error) {
    if (!fs::exists(status)) {
      const bool silent = !error || error == std::errc::no_such_file_or_directory;
      return Tell(path, silent ? "there is no such file or folder" : "cannot look at it: " + error.message());
    }
    if (!readable_kind) return Tell(path, "it is neither a file nor a folder");
    if (access(path.c_str(), R_OK) != 0) {
      return Tell(path, "cannot open it: " + std::generic_category().message(errno));
    }
    visit_({path.string(), ""});
  }

  const std::function<void(const Artifact&)>& visit_;
  const std::function<void(const Problem&)>& problem_;
  fs::path root_;  // of the tree being walked, without links
};

}  // namespace

void Walk(const std::vector<std::string>& paths, const std::function<void(const Artifact&)>& visit,
          const std::function<void(const Problem&)>& problem) {
  Walker walker(visit, problem);
  for (const std::string& path : paths) walker.Named(path);
}

}  // namespace whyoom
