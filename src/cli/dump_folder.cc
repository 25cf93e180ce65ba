#include "cli/dump_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "input/byte_source.h"
#include "input/walk.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFlag = "--xla_dump_to";
constexpr std::string_view kBlanks = " \t\r\n";
// Allows for a file server whose clock differs.
constexpr std::time_t kClockSlack = 5;
constexpr std::size_t kFlagFileBytes = std::size_t{64} << 10;  // XLA's own limit

std::size_t SkipBlanks(const std::string& text, std::size_t at) {
  const std::size_t next = text.find_first_not_of(kBlanks, at);
  return next == std::string::npos ? text.size() : next;
}

// Parses the value at `*at`, quoted or up to a blank, like XLA (xla/parse_flags_from_env.cc).
std::string ParseValue(const std::string& text, std::size_t* at) {
  std::string value;
  const char quote = *at < text.size() && (text[*at] == '"' || text[*at] == '\'') ? text[*at] : '\0';
  if (quote != '\0') ++*at;
  for (; *at < text.size(); ++*at) {
    if (quote != '\0' ? text[*at] == quote : kBlanks.find(text[*at]) != std::string_view::npos) break;
    if (quote == '"' && text[*at] == '\\' && *at + 1 < text.size()) ++*at;
    value += text[*at];
  }
  if (quote != '\0' && *at < text.size()) ++*at;
  return value;
}

// XLA_FLAGS may name a file that contains the flags.
bool NamesFile(const std::string& flags) {
  const std::size_t first = SkipBlanks(flags, 0);
  return first < flags.size() && flags[first] != '-';
}

std::string MakeTemporary() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string name = (error ? fs::path("/tmp") : fs::absolute(parent, error)) / "whyoom-dump-XXXXXX";
  // XLA would split a name at blanks or quotes.
  if (name.find_first_of(" \t\r\n\"'") != std::string::npos) name = "/tmp/whyoom-dump-XXXXXX";
  return mkdtemp(name.data()) == nullptr ? "" : name;
}

}  // namespace

std::optional<std::string> DumpFlag(const std::string& flags) {
  std::optional<std::string> value;
  for (std::size_t at = SkipBlanks(flags, 0); at < flags.size(); at = SkipBlanks(flags, at)) {
    const std::size_t end = std::min(flags.find_first_of(" \t\r\n=", at), flags.size());
    const std::string_view name = std::string_view(flags).substr(at, end - at);
    const bool wanted = name == kFlag || name == kFlag.substr(1);
    at = end;
    if (at < flags.size() && flags[at] == '=') {
      std::string given = ParseValue(flags, &++at);
      if (wanted) value = given;
    } else if (wanted) {
      at = SkipBlanks(flags, at);
      value = at < flags.size() && flags[at] != '-' ? ParseValue(flags, &at) : "";
    }
  }
  return value;
}

void AddDumpFolder(const std::string& path, const OutputFiles& outputs, XlaDump* dump, std::vector<Problem>* problems) {
  const std::size_t before = problems->size();
  for (Walk walk({path}); const std::optional<Artifact> file = walk.Next(problems);) {
    outputs.ThrowIfOutput(file->path);
    dump->AddFile(file->path);
  }
  if (dump->empty() && problems->size() == before)
    problems->push_back({path, "", std::string("no XLA dump found: ") + kWhyNoDump});
}

DumpFolder::DumpFolder(const char* flags, bool add) : started_(std::time(nullptr)) {
  const std::string set = flags == nullptr ? "" : flags;
  const bool in_file = NamesFile(set);
  if (const std::optional<std::string> users = DumpFlag(in_file ? ReadUpTo(*OpenFile(set), kFlagFileBytes) : set)) {
    path_ = *users;
    return;
  }
  if (!add || in_file) return;  // after a file name, flags would become part of the name
  path_ = MakeTemporary();
  temporary_ = !path_.empty();
  if (temporary_) flags_ = set + (set.empty() ? "" : " ") + std::string(kFlag) + "=" + path_;
}

DumpFolder::~DumpFolder() {
  std::error_code ignored;
  if (temporary_ && !kept_) fs::remove_all(path_, ignored);
}

XlaDump ReadDump(const std::string& path, std::time_t since, const OutputFiles& outputs) {
  XlaDump dump;
  struct stat info {};
  // XLA writes "-" to standard output; gs:// is not a local path.
  if (path.empty() || stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return dump;
  std::vector<Problem> ignored_problems;
  for (Walk walk({path}); const std::optional<Artifact> artifact = walk.Next(&ignored_problems);) {
    const bool is_new = stat(artifact->path.c_str(), &info) == 0 && info.st_mtime >= since - kClockSlack;
    if (is_new && dump.AddFile(artifact->path)) outputs.ThrowIfOutput(artifact->path);
  }
  return dump;
}

}  // namespace whyoom
