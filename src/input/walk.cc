#include "input/walk.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

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
      root_ = name;
      return Folder(name);
    }
    const bool readable_kind = fs::is_regular_file(status) || fs::is_fifo(status) || fs::is_character_file(status) ||
                               fs::is_block_file(status);
    File(name, status, readable_kind, error);
  }

 private:
  enum class Kind { kFile, kFolder, kOther };

  void Tell(const fs::path& path, const std::string& what) { problem_({path.string(), "", what}); }

  void Folder(const fs::path& folder) {
    std::error_code error;
    std::vector<std::pair<std::string, Kind>> entries;
    fs::directory_iterator entry(folder, error);
    while (!error && entry != fs::directory_iterator()) {
      // The listing tells the kind; asking for it file by file takes longer than reading small files.
      std::error_code unknown;
      const Kind kind = entry->is_symlink(unknown)        ? Kind::kOther
                        : entry->is_directory(unknown)    ? Kind::kFolder
                        : entry->is_regular_file(unknown) ? Kind::kFile
                                                          : Kind::kOther;
      entries.emplace_back(entry->path().filename().string(), kind);
      entry.increment(error);
    }
    if (error) Tell(folder, "cannot list it: " + error.message());
    std::sort(entries.begin(), entries.end());
    for (const auto& [name, kind] : entries) {
      const fs::path path = folder / name;
      if (kind == Kind::kFile) {
        visit_({path.string(), ""});
      } else if (kind == Kind::kFolder) {
        Folder(path);
      } else {
        Other(path);
      }
    }
  }

  void Other(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) return LinkedFolder(path);
    File(path, status, fs::is_regular_file(status), error);
  }

  // A link inside a tree could loop. One that points into the tree ("latest-run") hides nothing from us.
  void LinkedFolder(const fs::path& path) {
    std::error_code error;
    const fs::path target = fs::canonical(path, error);
    const fs::path root = error ? fs::path() : fs::canonical(root_, error);
    const auto differ = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
    if (!error && differ.first == root.end()) return;
    Tell(path, "it is a symbolic link to a folder and was not followed");
  }

  void File(const fs::path& path, const fs::file_status& status, bool readable_kind, const std::error_code& error) {
    if (!fs::exists(status)) {
      const bool silent = !error || error == std::errc::no_such_file_or_directory;
      return Tell(path, silent ? "there is no such file or folder" : "cannot look at it: " + error.message());
    }
    if (!readable_kind) return Tell(path, "it is neither a file nor a folder");
    visit_({path.string(), ""});
  }

  const std::function<void(const Artifact&)>& visit_;
  const std::function<void(const Problem&)>& problem_;
  fs::path root_;  // of the tree being walked, as it was named
};

}  // namespace

void Walk(const std::vector<std::string>& paths, const std::function<void(const Artifact&)>& visit,
          const std::function<void(const Problem&)>& problem) {
  Walker walker(visit, problem);
  for (const std::string& path : paths) walker.Named(path);
}

}  // namespace whyoom
