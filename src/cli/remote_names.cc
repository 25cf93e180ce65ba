#include "cli/remote_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "input/error.h"
#include "report/shell_word.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

struct Remote {
  const char* scheme;
  const char* read;    // command that prints the file {}
  const char* folder;  // command that copies the folder {} to the current folder; empty: none exists
};

constexpr Remote kRemotes[] = {
    {"gs://", "gcloud storage cat {}", "gcloud storage cp -r {} ."},
    {"s3://", "aws s3 cp {} -", "aws s3 cp --recursive {} {}"},
    {"https://", "curl -fsSL {}", ""},
    {"http://", "curl -fsSL {}", ""},
    {"hdfs://", "hdfs dfs -cat {}", "hdfs dfs -get {} ."},
    {"s3a://", "hadoop fs -cat {}", "hadoop fs -get {} ."},
    {"abfs://", "hadoop fs -cat {}", "hadoop fs -get {} ."},
    {"abfss://", "hadoop fs -cat {}", "hadoop fs -get {} ."},
    {"wasbs://", "hadoop fs -cat {}", "hadoop fs -get {} ."},
};

bool BeginsWith(std::string_view name, std::string_view scheme) {
  return name.size() > scheme.size() && std::equal(scheme.begin(), scheme.end(), name.begin(), [](char a, char b) {
           return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
         });
}

const Remote* RemoteOf(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kRemotes), std::end(kRemotes),
                                         [&](const Remote& remote) { return BeginsWith(name, remote.scheme); });
  return found == std::end(kRemotes) ? nullptr : found;
}

bool IsHere(const std::string& name) {
  std::error_code error;
  return std::filesystem::exists(name, error);
}

bool NamesFolder(const std::string& name, bool is_folder) { return is_folder || name.ends_with('/'); }

// The last part of a name: the local name of the copied folder.
std::string LastPart(std::string name) {
  while (name.ends_with('/')) name.pop_back();
  return name.substr(name.rfind('/') + 1);
}

// The whyoom command that reads the pipe, without the options that were typed; "-" stands for the pipe if necessary.
std::string Reader(const Options& options, const std::string& name) {
  switch (options.command) {
    case Command::kMerge:
      return "whyoom merge";
    case Command::kRulesTrace:
      return "whyoom rules trace -";
    case Command::kDiff:
      return options.paths.front() == name ? "whyoom diff - AFTER" : "whyoom diff BEFORE -";
    default:
      return "whyoom";
  }
}

}  // namespace

std::optional<std::string> ReadCommand(const std::string& name, bool is_folder) {
  const Remote* remote = RemoteOf(name);
  if (remote == nullptr) return std::nullopt;
  const std::string word = ShellWord(name);
  if (!NamesFolder(name, is_folder) || *remote->folder == '\0') return fmt::format(fmt::runtime(remote->read), word);
  return fmt::format(fmt::runtime(remote->folder), word, ShellWord(LastPart(name)));
}

void ThrowIfRemote(const Options& options) {
  for (const std::string& path : options.paths) {
    const std::optional<std::string> command = IsHere(path) ? std::nullopt : ReadCommand(path);
    if (!command) continue;
    const bool copies = path.ends_with('/') && *RemoteOf(path)->folder != '\0';
    const std::string rest = copies ? "&& whyoom " + ShellWord(LastPart(path)) : "| " + Reader(options, path);
    throw Error(fmt::format("{}: whyoom cannot read remote files, try:\n  {} {}", Printable(path), *command, rest));
  }
  for (const std::string* folder : {&options.xla_dump, &options.xla_dump_before, &options.xla_dump_after}) {
    if (IsHere(*folder)) continue;
    if (const std::optional<std::string> command = ReadCommand(*folder, true))
      throw Error(fmt::format("{}: whyoom cannot read remote folders; copy the folder first:\n  {}", Printable(*folder),
                              *command));
  }
}

}  // namespace whyoom
