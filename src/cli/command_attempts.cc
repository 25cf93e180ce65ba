#include "cli/command_attempts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "cli/job.h"
#include "input/error.h"
#include "text/numbers.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;

// The value of a setting in the command: "20" of "per_device_batch_size=20". The last one counts.
std::optional<std::string> ValueIn(const std::vector<std::string>& command, const std::string& name) {
  const auto word = std::find_if(command.rbegin(), command.rend(),
                                 [&](const std::string& each) { return each.starts_with(name + "="); });
  return word == command.rend() ? std::nullopt : std::optional(word->substr(name.size() + 1));
}

std::optional<std::int64_t> ToNumber(const std::optional<std::string>& value) {
  const std::optional<std::uint64_t> number = value ? ParseWholeNumber(*value) : std::nullopt;
  return number && *number < (1U << 30) ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

std::vector<std::string> WithWords(std::vector<std::string> command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::string prefix = SettingName(word) + "=";
    std::erase_if(command, [&](const std::string& each) { return each.starts_with(prefix); });
    command.push_back(word);
  }
  return command;
}

// Replaces "name=/2" and "name=*2" by the command's value divided or multiplied. An absent value can only be
// multiplied, and counts as 1. Returns nullopt if the value is not a multiple, or if the command has the word already.
std::optional<std::string> Resolve(const std::string& word, const std::vector<std::string>& command) {
  const std::string name = SettingName(word);
  const std::string value = word.substr(name.size() + 1);
  const std::optional<std::int64_t> factor = value.empty() ? std::nullopt : ToNumber(value.substr(1));
  if (!factor || *factor < 1 || (value[0] != '/' && value[0] != '*'))
    return ValueIn(command, name) == value ? std::nullopt : std::optional(word);
  const std::optional<std::int64_t> current = ToNumber(ValueIn(command, name).value_or("1"));
  if (!current || (value[0] == '/' && *current % *factor != 0)) return std::nullopt;
  return fmt::format("{}={}", name, value[0] == '/' ? *current / *factor : *current * *factor);
}

// Resolves the words of a setting; empty if one of them is impossible.
std::vector<std::string> ResolveAll(const std::string& setting, const std::vector<std::string>& command) {
  std::vector<std::string> words;
  std::istringstream text(setting);
  for (std::string word; text >> word;) {
    const std::optional<std::string> resolved = Resolve(word, command);
    if (!resolved) return {};
    words.push_back(*resolved);
  }
  return words;
}

// "name=?" of a setting: "name". Empty if it is no search.
std::string SearchedName(const std::string& setting) {
  return setting.ends_with("=?") ? setting.substr(0, setting.size() - 2) : "";
}

}  // namespace

Attempt SettingSearch::With(std::int64_t other) const {
  const std::string word = fmt::format("{}={}", name, other);
  return {remedy, word, {}, {word}};
}

CommandCompiler::CommandCompiler(const RuleSet& rules, std::vector<std::string> command, const CompileLimits& limits,
                                 const ReadControl& control)
    : command_(std::move(command)), limits_(limits), control_(control) {
  const std::string line = fmt::format("{}", fmt::join(command_, " "));
  std::vector<std::string> known;
  for (const Framework& framework : rules.frameworks()) {
    PatternMatch ignored;
    if (framework.compiles_ahead_example.empty()) continue;
    if (framework.compiles_ahead.Find(line, 0, &ignored)) framework_ = framework.id;
    known.push_back(fmt::format("{}: {}", framework.name, framework.compiles_ahead_example));
  }
  if (framework_.empty())
    throw Error(fmt::format("cannot try remedies: not a command that compiles ahead of time (known: {})",
                            fmt::join(known, "; ")));
}

// Runs the command with these words and a dump in `folder`. Returns why it was ended early.
std::string CommandCompiler::Run(const std::vector<std::string>& words, const PrivateFolder& folder,
                                 const std::string& module) const {
  const fs::path dump = folder.path() / "dump";
  fs::create_directory(dump);
  const char* flags = std::getenv("XLA_FLAGS");
  const std::vector<std::string> command = WithWords(command_, words);
  // The last dump folder counts. A compile from JAX's cache would write no dump.
  std::vector<std::string> environment =
      EnvironmentWith({{"XLA_FLAGS", fmt::format("{} --xla_dump_to={}", flags == nullptr ? "" : flags, dump.string())},
                       {"JAX_ENABLE_COMPILATION_CACHE", "false"},
                       {"TPU_LOG_DIR", folder.path().string()}});
  CompileChild child({command.front(), command, std::move(environment)}, folder.path() / "output.txt");
  const std::string why = Await(&child, limits_, control_, [&] {
    return !module.empty() && !limits_.whole && HasAssignedBuffers(dump.string(), module);
  });
  if (!why.empty() || !child.HasEnded()) return why;
  const std::string last = LastLine(folder.path() / "output.txt");
  return last.empty() ? child.HowItEnded() : fmt::format("{} ({})", last, child.HowItEnded());
}

const fs::path& CommandCompiler::RunUnchanged() {
  const std::string why = Run({}, unchanged_, "");
  if (!FindNeed((unchanged_.path() / "dump").string(), ""))
    throw Error(fmt::format("cannot try remedies: the command wrote no XLA dump: {}", why));
  return unchanged_.path();
}

std::vector<std::string> CommandCompiler::SettingsOf(const WantedRemedy& wanted) const {
  const auto settings = wanted.remedy->settings.find(framework_);
  if (settings == wanted.remedy->settings.end()) return {};
  return wanted.setting.empty() ? settings->second : std::vector<std::string>{wanted.setting};
}

std::vector<Attempt> CommandCompiler::Attempts(const std::vector<WantedRemedy>& wanted) const {
  std::vector<Attempt> attempts;
  for (const WantedRemedy& each : wanted) {
    for (const std::string& setting : SettingsOf(each)) {
      const std::vector<std::string> words = ResolveAll(setting, command_);
      if (SearchedName(setting).empty() && !words.empty())
        attempts.push_back({each.remedy->id, fmt::format("{}", fmt::join(words, " ")), {}, words});
    }
  }
  return attempts;
}

std::vector<SettingSearch> CommandCompiler::Searches(const std::vector<WantedRemedy>& wanted) const {
  std::vector<SettingSearch> searches;
  for (const WantedRemedy& each : wanted) {
    for (const std::string& setting : SettingsOf(each)) {
      const std::string name = SearchedName(setting);
      const std::optional<std::int64_t> value = name.empty() ? std::nullopt : ToNumber(ValueIn(command_, name));
      if (value && *value > 1) searches.push_back({each.remedy->id, name, *value});
    }
  }
  return searches;
}

CompileResult CommandCompiler::Compile(const Attempt& attempt, const std::string& module) const {
  CompileResult result;
  const auto begin = std::chrono::steady_clock::now();
  try {
    const PrivateFolder folder;
    result.problem = Run(attempt.words, folder, module);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ReadNeed((folder.path() / "dump").string(), module, "", &result);
  } catch (const std::exception& error) {  // a full disk
    result.problem = error.what();
  }
  return result;
}

}  // namespace whyoom
