#include "input/walk.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace whyoom {
namespace {

namespace fs = std::filesystem;

void Report(const fs::path& path, const std::string& what, std::vector<Problem>* problems) {
  problems->push_back({path.string(), "", what});
}

// Links into the same tree ("latest-run") lead to files that are found anyway.
bool IsInside(const fs::path& link, const fs::path& tree) {
  std::error_code error;
  const fs::path relative = fs::relative(link, tree, error);
  return !error && !relative.empty() && *relative.begin() != "..";
}

}  // namespace

std::optional<Artifact> Walk::Next(std::vector<Problem>* problems) {
  while (true) {
    if (entries_.empty()) {
      if (std::exchange(is_empty_, false)) Report(root_, "folder contains no files", problems);
      if (next_path_ == paths_.size()) return std::nullopt;
      root_ = paths_[next_path_++];
      if (root_ == "-") return Artifact{"-", ""};
      std::error_code error;  // is reported later
      entries_.emplace_back().assign(root_, error);
    } else {
      const Entry entry = std::move(entries_.back());
      entries_.pop_back();
      if (IsFile(entry, problems)) return Artifact{entry.path().string(), ""};
    }
  }
}

// Opens a folder. Reports what is neither a file nor a folder.
bool Walk::IsFile(const Entry& entry, std::vector<Problem>* problems) {
  // The listing contains the kind; a stat per file takes longer than reading small files.
  std::error_code error;
  const fs::path& path = entry.path();
  const bool is_named = path == root_;
  if (entry.is_directory(error) && (is_named || !entry.is_symlink(error))) {
    Open(path, problems);
    return false;
  }
  is_empty_ = false;
  if (entry.is_regular_file(error)) return true;
  if (!entry.exists(error)) {
    const bool silent = !error || error == std::errc::no_such_file_or_directory;
    // A name with at least five words is probably not a file name.
    const bool is_message = std::count(path.native().begin(), path.native().end(), ' ') >= 4;
    const std::string what = !silent      ? "cannot access: " + error.message()
                             : is_message ? "no such file or folder (to read a message from a pipe: echo '…' | whyoom)"
                                          : "no such file or folder";
    Report(path, what, problems);
  } else if (entry.is_directory(error)) {
    if (!IsInside(path, root_)) Report(path, "symbolic link to a folder, not followed", problems);
  } else if (is_named && IsEndless(path)) {
    Report(path, "device with endless output", problems);
  } else if (!is_named || entry.is_socket(error)) {
    Report(path, "neither a file nor a folder", problems);
  } else {
    return true;
  }
  return false;
}

bool IsEndless(const fs::path& device) {
  std::error_code error;
  const fs::path path = fs::canonical(device, error);
  return path == "/dev/zero" || path == "/dev/full" || path == "/dev/random" || path == "/dev/urandom";
}

void Walk::Open(const fs::path& folder, std::vector<Problem>* problems) {
  const auto known = static_cast<std::ptrdiff_t>(entries_.size());
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator(); entry.increment(error))
    entries_.push_back(*entry);
  if (error) Report(folder, "cannot list the folder: " + error.message(), problems);
  if (folder == root_) is_empty_ = true;
  if (error) is_empty_ = false;
  std::sort(entries_.begin() + known, entries_.end(),
            [](const Entry& one, const Entry& other) { return one.path().native() > other.path().native(); });
}

}  // namespace whyoom
