#include "cli/rule_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "cli/project_rules.h"

namespace whyoom {
namespace {

using FileId = std::pair<dev_t, ino_t>;

FileId IdOf(const std::filesystem::path& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? FileId(status.st_dev, status.st_ino) : FileId();
}

// A file that is named in several ways is read once, where it counts most.
void DropTwice(const std::filesystem::path& root, std::size_t of_project, std::vector<RuleFile>* files) {
  std::set<FileId> seen;
  for (std::size_t i = files->size(); i-- > 0;) {
    const std::filesystem::path path = (*files)[i].name;
    const FileId id = IdOf(i < of_project ? root / path : path);
    if (id != FileId() && !seen.insert(id).second) files->erase(files->begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// `given`: --rules names it, so that what is to be typed again names it, too.
void Append(const std::string& path, int layer, bool given, RuleFiles* files) {
  for (RuleFile& file : RuleSet::ReadFiles(path)) {
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

// The paths that WHYOOM_RULES names.
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

RuleFiles NamedRuleFiles(const Options& options) {
  RuleFiles files;
  for (const std::string& path : options.rules) Append(path, 1, true, &files);
  return files;
}

RuleFiles RuleFilesOf(const Options& options) {
  RuleFiles files;
  ProjectRules project;
  if (options.project_rules) {
    std::error_code error;
    project = FindProjectRules(std::filesystem::current_path(error), Home());
    if (!project.passed_over.empty()) files.passed_over.push_back(std::move(project.passed_over));
    files.files = std::move(project.files);
  }
  const std::size_t of_project = files.files.size();
  int layer = 1;
  for (const std::string& path : PathsOfVariable()) Append(path, ++layer, false, &files);
  files.named = files.files.empty();
  ++layer;
  for (const std::string& path : options.rules) Append(path, layer, true, &files);
  DropTwice(project.root, of_project, &files.files);
  return files;
}

}  // namespace whyoom
