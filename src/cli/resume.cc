#include "cli/resume.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "cli/output.h"
#include "input/byte_source.h"
#include "input/error.h"
#include "report/record/report_reader.h"
#include "rules/sha256.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".whyoom-resume";
constexpr std::size_t kMostStoredBytes = 64 << 20;  // a thousand failures need about ten million bytes

}  // namespace

ResumeFolder::ResumeFolder(const std::string& given, const RuleSource& rules, const std::string& settings)
    : path_((fs::path(given) / "").parent_path().string()), rules_(rules), settings_(settings) {  // "link/": the link
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("--resume: '{}' {}", Printable(path_), why));
  };
  struct stat status {};
  if ((mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) || lstat(path_.c_str(), &status) != 0)
    refuse(fmt::format("cannot be created: {}", std::strerror(errno)));
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    refuse("is not a folder to which only you may write; give the name of another folder");
  if (access(path_.c_str(), R_OK | W_OK | X_OK) != 0) refuse(fmt::format("cannot be used: {}", std::strerror(errno)));
}

std::string ResumeFolder::FileOf(const std::string& input) const {
  std::error_code error;
  if (input == "-" || Printable(input) != input || !fs::is_regular_file(input, error)) return {};
  // A relative path means another file in another current folder.
  const std::string state =
      fmt::format("{}\n{}\n{}\n{}\n{}", input, fs::current_path(error).string(), fs::file_size(input, error),
                  fs::last_write_time(input, error).time_since_epoch().count(), settings_);
  return fmt::format("{}/.{}{}", path_, Sha256Hex(state), kSuffix);  // `whyoom merge` skips names with a dot
}

bool ResumeFolder::Contains(const std::string& path) const {
  std::error_code error;
  return path.find(kSuffix) != path.npos && fs::equivalent(fs::path(path).parent_path() / ".", path_, error);
}

std::optional<Report> ResumeFolder::Load(const std::string& file) const {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  const std::string text = ReadUpTo(*OpenFile(file), kMostStoredBytes);  // an incomplete text is no JSON
  return FromStored(nlohmann::json::parse(text, nullptr, false), rules_);
}

void ResumeFolder::Store(const std::string& file, const Report& report) {
  if (file.empty() || report.retry || report.problems_left_out > 0) return;
  const std::string text = LineOf(ToStored(report, rules_.head().fingerprint));
  if (text.size() > kMostStoredBytes) return;
  try {
    WriteFile(text, file);
  } catch (const Error& error) {
    const std::string what = error.what();
    const std::lock_guard lock(mutex_);
    problem_ = {path_, "",
                fmt::format("cannot store the results of some inputs ({}), which the next run reads again",
                            what.substr(what.rfind(": ") + 2)),
                true, Problem::kNote};
  }
}

}  // namespace whyoom
