#include "cli/dump_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "input/byte_source.h"
#include "input/walk.h"
#include "text/regex_options.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFlag = "--xla_dump_to";
// Allows for a file server whose clock differs.
constexpr std::time_t kClockSlack = 5;
constexpr std::size_t kFlagFileBytes = std::size_t{64} << 10;  // XLA's own limit

// XLA_FLAGS may name a file that contains the flags.
bool NamesFile(const std::string& flags) {
  const std::size_t first = flags.find_first_not_of(" \t\r\n");
  return first != std::string::npos && flags[first] != '-';
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

// Like xla/parse_flags_from_env.cc: a value follows "=" or a blank, and may be quoted.
std::optional<std::string> DumpFlag(const std::string& flags) {
  static const Regex flag(R"re(\s*([^\s=]+)(=?)(?:"((?:[^"\\]|\\.)*)"?|'([^']*)'?|(\S*)))re");
  static const Regex escape(R"(\\(.))");
  std::optional<std::string> value;
  bool is_awaited = false;  // the value is the next word
  std::string name, equals, quoted, literal, plain;
  for (re2::StringPiece rest = flags; re2::RE2::Consume(&rest, flag, &name, &equals, &quoted, &literal, &plain);) {
    re2::RE2::GlobalReplace(&quoted, escape, R"(\1)");
    const std::string given = quoted + literal + plain;
    const bool is_dump = name == kFlag || name == kFlag.substr(1);
    if (is_dump) value = given;
    if (is_awaited && !name.starts_with('-')) value = name + equals + given;
    is_awaited = is_dump && equals.empty();
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
