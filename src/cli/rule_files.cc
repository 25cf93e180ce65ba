#include "cli/rule_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "input/byte_source.h"
#include "input/error.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

RuleFile ReadFile(const std::filesystem::path& path) {
  const std::unique_ptr<ByteSource> source = OpenFile(path.string());
  // One byte over the limit, so that the parser rejects larger files.
  std::string text = ReadUpTo(*source, kMostRuleBytes + 1);
  if (!source->problem().empty()) throw Error(path.string() + ": cannot read the rule file");
  return {path.string(), std::move(text)};
}

struct ProjectRules {
  std::filesystem::path root;   // the folder that contains .whyoom
  std::vector<RuleFile> files;  // sorted by name; named ".whyoom/rules/NAME"
  std::string fault;            // why the folder that was found is not used; empty: it is used
};

constexpr const char* kOuter = ".whyoom";
constexpr const char* kInner = "rules";
constexpr std::size_t kMostFiles = 1000;

// Whether only the user is a member of the group. Many systems create such a group for each user, with the user's name.
bool IsOwnGroup(gid_t group) {
  std::array<char, 16384> buffer{};
  struct passwd user {};
  struct passwd* found_user = nullptr;
  if (getpwuid_r(geteuid(), &user, buffer.data(), buffer.size(), &found_user) != 0 || found_user == nullptr)
    return false;
  const std::string name = user.pw_name;
  if (user.pw_gid != group) return false;
  struct group found {};
  struct group* found_group = nullptr;
  if (getgrgid_r(group, &found, buffer.data(), buffer.size(), &found_group) != 0 || found_group == nullptr)
    return false;
  if (name != found.gr_name) return false;
  for (char** member = found.gr_mem; member != nullptr && *member != nullptr; ++member) {
    if (name != *member) return false;
  }
  return true;
}

// Why the open file or folder is not trusted; empty if it is.
std::string TrustProblem(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return std::strerror(errno);
  if (status.st_uid != geteuid() && status.st_uid != 0) return fmt::format("owned by another user ({})", status.st_uid);
  if ((status.st_mode & S_IWOTH) != 0) return "writable by others";
  if ((status.st_mode & S_IWGRP) != 0 && !IsOwnGroup(status.st_gid)) return "writable by a group";
  return "";
}

std::string OpenProblem() {
  return errno == ELOOP || errno == ENOTDIR ? "not a folder, or a symbolic link" : std::strerror(errno);
}

// Reads the rules below one folder.
class FolderReader {
 public:
  explicit FolderReader(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Returns false if the folder has no .whyoom/rules.
  bool Read(ProjectRules* rules) {
    const Descriptor outer(open((folder_ / kOuter).c_str(), kFolder));
    if (outer.get() < 0) {
      const std::string why = OpenProblem();
      struct stat status {};
      return lstat((folder_ / kOuter).c_str(), &status) == 0 && Refuse(kOuter, why, rules);
    }
    const Descriptor inner(openat(outer.get(), kInner, kFolder));
    const std::string name = fmt::format("{}/{}", kOuter, kInner);
    if (inner.get() < 0) return errno != ENOENT && Refuse(name, OpenProblem(), rules);
    if (const std::string why = TrustProblem(outer.get()); !why.empty()) return Refuse(kOuter, why, rules);
    if (const std::string why = TrustProblem(inner.get()); !why.empty()) return Refuse(name, why, rules);
    for (const std::string& file : Names(inner.get())) {
      const std::string path = fmt::format("{}/{}", name, file);
      Descriptor opened(openat(inner.get(), file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      std::string why = opened.get() < 0 ? OpenProblem() : TrustProblem(opened.get());
      struct stat status {};
      if (why.empty() && (fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode))) why = "not a regular file";
      if (!why.empty()) {
        rules->files.clear();
        return Refuse(path, why, rules);
      }
      // One byte over the limit, so that the parser rejects larger files.
      rules->files.push_back({path, ReadUpTo(*OpenDescriptor(std::move(opened)), kMostRuleBytes + 1)});
    }
    rules->root = folder_;
    return true;
  }

 private:
  static constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

  bool Refuse(const std::string& name, const std::string& why, ProjectRules* rules) const {
    rules->fault = fmt::format("ignored the project's rules: {}: {}", (folder_ / name).string(), why);
    return true;
  }

  static std::vector<std::string> Names(int descriptor) {
    std::vector<std::string> names;
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    DIR* const folder = copy >= 0 ? fdopendir(copy) : nullptr;
    if (folder == nullptr) {
      if (copy >= 0) close(copy);
      return names;
    }
    while (const dirent* entry = readdir(folder)) {
      const std::string_view name = entry->d_name;
      if (name.ends_with(".json") && name != "schema.json" && names.size() < kMostFiles) names.emplace_back(name);
    }
    closedir(folder);
    std::sort(names.begin(), names.end());
    return names;
  }

  const std::filesystem::path folder_;
};

// The last parent folder to search.
std::filesystem::path Limit(const std::filesystem::path& start, const std::filesystem::path& home) {
  std::error_code error;
  std::optional<std::filesystem::path> at_home;
  for (std::filesystem::path at = start;; at = at.parent_path()) {
    if (std::filesystem::exists(at / ".git", error)) return at;
    if (!home.empty() && at == home) at_home = at;
    if (at == at.parent_path()) return at_home.value_or(start);
  }
}

// Searches `start` and its parents, up to the root of the git repository, or up to `home` if there is none, or only
// `start` if it is in neither. Uses the nearest .whyoom/rules.
//
// The folder is used completely or not at all. It is rejected if .whyoom, rules or a *.json file is a symbolic link,
// belongs to another user (except root), or is writable by others: they could determine what is reported. The user's
// private group may have write permission.
ProjectRules FindProjectRules(const std::filesystem::path& start, const std::filesystem::path& home) {
  ProjectRules rules;
  if (start.empty()) return rules;
  const std::filesystem::path limit = Limit(start, home);
  for (std::filesystem::path at = start;; at = at.parent_path()) {
    if (FolderReader(at).Read(&rules) || at == limit || at == at.parent_path()) return rules;
  }
}

using FileId = std::pair<dev_t, ino_t>;

FileId IdOf(const std::filesystem::path& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? FileId(status.st_dev, status.st_ino) : FileId();
}

// If a file occurs several times, keeps only the last occurrence, which has precedence.
void DropDuplicates(const std::filesystem::path& root, std::size_t of_project, std::vector<RuleFile>* files) {
  std::set<FileId> seen;
  for (std::size_t i = files->size(); i-- > 0;) {
    const std::filesystem::path path = (*files)[i].name;
    const FileId id = IdOf(i < of_project ? root / path : path);
    if (id != FileId() && !seen.insert(id).second) files->erase(files->begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// `given`: the file is from --rules, so commands that the report suggests repeat the option.
void Append(const std::string& path, int layer, bool given, RuleFiles* files) {
  for (RuleFile& file : ReadRuleFiles(path)) {
    file.layer = layer;
    if (given) file.given = path;
    files->files.push_back(std::move(file));
  }
}

std::filesystem::path Home() {
  const char* home = std::getenv("HOME");
  std::error_code error;
  return home != nullptr && *home == '/' ? std::filesystem::weakly_canonical(home, error) : std::filesystem::path();
}

std::vector<std::string> PathsOfVariable() {
  const char* value = std::getenv("WHYOOM_RULES");
  std::vector<std::string> paths;
  if (value == nullptr) return paths;
  const std::string all = value;
  for (std::size_t begin = 0; begin <= all.size();) {
    const std::size_t end = std::min(all.find(':', begin), all.size());
    if (end > begin) paths.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return paths;
}

}  // namespace

std::vector<RuleFile> ReadRuleFiles(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw Error(Printable(path) + ": no such rule file or folder");
  if (!std::filesystem::is_directory(status)) return {ReadFile(path)};
  std::vector<std::filesystem::path> paths;
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::filesystem::path& file = entry->path();
    if (file.extension() == ".json" && file.filename() != "schema.json") paths.push_back(file);
  }
  if (error) throw Error(path + ": cannot read the folder of rule files: " + error.message());
  if (paths.empty()) throw Error(path + ": the folder contains no rule files (expected *.json)");
  std::sort(paths.begin(), paths.end());
  std::vector<RuleFile> files;
  for (const std::filesystem::path& file : paths) files.push_back(ReadFile(file));
  return files;
}

RuleFiles RuleFilesOfOption(const Options& options) {
  RuleFiles files;
  for (const std::string& path : options.rules) Append(path, 1, true, &files);
  return files;
}

RuleFiles FindRuleFiles(const Options& options) {
  RuleFiles files;
  ProjectRules project;
  if (options.project_rules) {
    std::error_code error;
    project = FindProjectRules(std::filesystem::current_path(error), Home());
    if (!project.fault.empty()) files.ignored_folders.push_back(std::move(project.fault));
    files.files = std::move(project.files);
  }
  const std::size_t of_project = files.files.size();
  int layer = 1;
  for (const std::string& path : PathsOfVariable()) Append(path, ++layer, false, &files);
  files.named = files.files.empty();
  ++layer;
  for (const std::string& path : options.rules) Append(path, layer, true, &files);
  DropDuplicates(project.root, of_project, &files.files);
  return files;
}

}  // namespace whyoom
