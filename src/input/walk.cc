#include "input/walk.h"

#include <algorithm>
#include <system_error>

#include "input/byte_source.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;

void Report(const fs::path& path, const std::string& what, std::vector<Problem>* problems) {
  problems->push_back({path.string(), "", what});
}

// A name with at least five words is probably not a file name.
bool LooksLikeMessage(const std::string& name) { return std::count(name.begin(), name.end(), ' ') >= 4; }

std::optional<Artifact> File(const fs::path& path, const fs::file_status& status, bool readable_kind,
                             const std::error_code& error, std::vector<Problem>* problems) {
  if (!fs::exists(status)) {
    const bool silent = !error || error == std::errc::no_such_file_or_directory;
    const std::string what = LooksLikeMessage(path.native())
                                 ? "no such file or folder (to read a message from a pipe: echo '…' | whyoom)"
                                 : "no such file or folder";
    Report(path, silent ? what : "cannot access: " + error.message(), problems);
  } else if (!readable_kind) {
    Report(path, "neither a file nor a folder", problems);
  } else {
    return Artifact{path.string(), ""};
  }
  return std::nullopt;
}

// Links inside a tree are not followed, because they could loop. Links into the same tree ("latest-run") are ignored.
void ReportLinkedFolder(const fs::path& path, const fs::path& tree, std::vector<Problem>* problems) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  const fs::path root = error ? fs::path() : fs::canonical(tree, error);
  const auto differ = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
  if (!error && differ.first == root.end()) return;
  Report(path, "symbolic link to a folder, not followed", problems);
}

}  // namespace

std::optional<Artifact> Walk::Next(std::vector<Problem>* problems) {
  while (true) {
    std::optional<Artifact> file;
    if (folders_.empty()) {
      if (next_path_ == paths_.size()) return std::nullopt;
      file = Named(paths_[next_path_++], problems);
    } else if (Folder& folder = folders_.back(); folder.next == folder.entries.size()) {
      folders_.pop_back();
      if (folders_.empty() && is_empty_) Report(root_, "folder contains no files", problems);
    } else {
      const fs::directory_entry entry = std::move(folder.entries[folder.next++]);
      std::error_code unknown;
      const bool is_folder = !entry.is_symlink(unknown) && entry.is_directory(unknown);
      is_empty_ = is_empty_ && is_folder;
      if (is_folder) {
        Open(entry.path(), problems);
      } else {
        file = Other(entry, problems);
      }
    }
    if (file) return file;
  }
}

std::optional<Artifact> Walk::Named(const std::string& name, std::vector<Problem>* problems) {
  if (name == "-") return Artifact{name, ""};
  std::error_code error;
  const fs::file_status status = fs::status(name, error);
  if (fs::is_directory(status)) {
    root_ = name;
    is_empty_ = true;
    Open(name, problems);
    return std::nullopt;
  }
  const bool readable_kind =
      fs::is_regular_file(status) || fs::is_fifo(status) || fs::is_character_file(status) || fs::is_block_file(status);
  if (fs::is_character_file(status) && IsEndlessDevice(name)) {
    Report(name, "device with endless output", problems);
    return std::nullopt;
  }
  return File(name, status, readable_kind, error, problems);
}

void Walk::Open(const fs::path& folder, std::vector<Problem>* problems) {
  Folder opened;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator(); entry.increment(error))
    opened.entries.push_back(*entry);
  if (error) Report(folder, "cannot list the folder: " + error.message(), problems);
  is_empty_ = is_empty_ && !error;
  std::sort(opened.entries.begin(), opened.entries.end(),
            [](const auto& one, const auto& other) { return one.path().native() < other.path().native(); });
  folders_.push_back(std::move(opened));
}

// Returns an entry that is no folder.
std::optional<Artifact> Walk::Other(const fs::directory_entry& entry, std::vector<Problem>* problems) const {
  std::error_code error;
  // The listing contains the kind; a stat per file takes longer than reading small files.
  if (!entry.is_symlink(error) && entry.is_regular_file(error)) return Artifact{entry.path().string(), ""};
  const fs::file_status status = fs::status(entry.path(), error);
  if (!fs::is_directory(status)) return File(entry.path(), status, fs::is_regular_file(status), error, problems);
  ReportLinkedFolder(entry.path(), root_, problems);
  return std::nullopt;
}

}  // namespace whyoom
