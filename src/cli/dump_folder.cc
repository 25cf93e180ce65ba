#include "cli/dump_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "input/error.h"
#include "input/walk.h"
#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFlag = "--xla_dump_to";

}  // namespace

// As in xla/parse_flags_from_env.cc, a value follows "=" or a blank, and may be quoted.
std::optional<std::string> DumpFlag(const std::string& flags) {
  static const Regex flag(R"re((?:^|\s)--?xla_dump_to(?:=(?:"([^"]*)"|'([^']*)'|(\S*))|\s+([^-\s]\S*)|\s|$))re");
  std::optional<std::string> value;
  std::string quoted, literal, plain, word;
  for (re2::StringPiece rest = flags; re2::RE2::FindAndConsume(&rest, flag, &quoted, &literal, &plain, &word);)
    value = quoted + literal + plain + word;
  return value;
}

void AddDumpFolder(const std::string& path, const OutputFiles& outputs, XlaDump* dump, std::vector<Problem>* problems,
                   std::time_t since) {
  const std::size_t before = problems->size();
  struct stat info {};
  for (Walk walk({path}); const std::optional<Artifact> file = walk.Next(problems);) {
    if (since > 0 && (stat(file->path.c_str(), &info) != 0 || info.st_mtime < since)) continue;
    if (dump->AddFile(file->path) || since == 0) outputs.ThrowIfOutput(file->path);
  }
  if (dump->empty() && problems->size() == before)
    problems->push_back({path, "",
                         "no XLA dump found: the compiling process reads XLA_FLAGS=--xla_dump_to only once, when it "
                         "starts to use XLA, and a cached compile writes no dump"});
}

XlaDump ReadDump(const std::string& path, std::time_t since, const OutputFiles& outputs) {
  XlaDump dump;
  std::error_code error;
  std::vector<Problem> ignored;
  // XLA writes "-" to standard output; gs:// is not a local path.
  if (fs::is_directory(path, error)) AddDumpFolder(path, outputs, &dump, &ignored, since);
  return dump;
}

TemporaryFolder::TemporaryFolder(const std::string& name) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string path = fs::absolute(parent, error).string();
  // XLA would split the name at blanks or quotes, and Python at colons.
  if (error || path.find_first_of(" \t\r\n\"':") != std::string::npos) path = "/tmp";
  path += "/" + name + "-XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    throw Error(fmt::format("cannot create {}: {}", Printable(path), std::strerror(errno)));
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

DumpFolder::DumpFolder(const char* flags, bool add) {
  const std::string set = flags == nullptr ? "" : flags;
  if (const std::optional<std::string> users = DumpFlag(set)) {
    path_ = *users;
    return;
  }
  // XLA_FLAGS may name a file of flags; a flag after the name would become part of it.
  const std::size_t first = set.find_first_not_of(" \t\r\n");
  if (!add || (first != set.npos && set[first] != '-')) return;
  try {
    path_ = temporary_.emplace("whyoom-dump").path().string();
  } catch (const Error&) {  // the job must run all the same
    return;
  }
  flags_ = set + (set.empty() ? "" : " ") + std::string(kFlag) + "=" + path_;
}

}  // namespace whyoom
