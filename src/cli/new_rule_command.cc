#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/exit_status.h"
#include "cli/rule_files.h"
#include "cli/rules_command.h"
#include "cli/terminal.h"
#include "diagnose/readings.h"
#include "diagnose/rule_test.h"
#include "input/byte_source.h"
#include "input/error.h"
#include "input/members.h"
#include "program/xla_dump.h"
#include "read/engine.h"
#include "read/message_at.h"
#include "report/finding_view.h"
#include "rules/new_rule.h"
#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// A value of --from: "train.log:41", "logs.tar › train.log:41-44", "-:7".
struct LogLines {
  Artifact artifact;
  LineRange range;
  std::string text;  // as given
};

std::optional<std::uint64_t> ToLine(std::string_view text) {
  std::uint64_t line = 0;
  const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), line);
  const bool whole = result.ec == std::errc() && result.ptr == text.data() + text.size();
  return whole && line > 0 ? std::optional(line) : std::nullopt;
}

LogLines ParseLogLines(const std::string& text) {
  LogLines place;
  place.text = Printable(text);
  const std::size_t colon = text.rfind(':');
  const std::string lines = colon == std::string::npos ? "" : text.substr(colon + 1);
  const std::size_t dash = lines.find('-');
  const std::optional<std::uint64_t> first = ToLine(lines.substr(0, dash));
  const std::optional<std::uint64_t> last = dash == std::string::npos ? first : ToLine(lines.substr(dash + 1));
  if (!first || !last || *last < *first || colon == 0)
    throw Error(fmt::format(
        "--from: invalid value '{}' (expected LOG:LINE or LOG:FIRST-LAST, for example train.log:41)", place.text));
  place.range.first = *first;
  if (dash != std::string::npos) place.range.last = *last;
  place.artifact.path = text.substr(0, colon);
  // The separator with which reports name archive members.
  constexpr std::string_view kIn = " › ";
  std::error_code error;
  const std::size_t in = place.artifact.path.find(kIn);
  if (in != std::string::npos && !std::filesystem::exists(place.artifact.path, error)) {
    place.artifact.member = place.artifact.path.substr(in + kIn.size());
    place.artifact.path.resize(in);
  }
  return place;
}

struct Found {
  Artifact artifact;
  MessageAt message;
};

void Drain(ByteSource& source) {
  std::vector<char> buffer(std::size_t{64} << 10);
  while (source.Read(buffer.data(), buffer.size()) > 0) continue;
}

MessageAt ReadPlace(const Engine& engine, const LogLines& place, const Limits& limits) {
  std::vector<Found> found;
  std::vector<std::string> members;
  std::uint64_t lines = 0;
  std::string problem;
  const auto read = [&](const Artifact& artifact, ByteSource& source) {
    if (place.artifact.member.empty() || artifact.member == place.artifact.member) {
      MessageAt message = ReadMessageAt(engine, source, place.range);
      lines = std::max(lines, message.last_read);
      members.push_back(ArtifactText(artifact));
      if (message.last_read >= place.range.first) found.push_back({artifact, std::move(message)});
    }
    Drain(source);
  };
  const auto add_problem = [&](const Problem& one) {
    if (problem.empty()) problem = fmt::format("{}: {}", ArtifactText({one.path, one.member}), Printable(one.what));
  };
  if (IsEndlessDevice(place.artifact.path))
    throw Error(fmt::format("--from: {}: device with endless output", Printable(place.artifact.path)));
  Artifact input = place.artifact;
  input.member.clear();
  ReadMembers(input, input.path == "-" ? OpenStandardInput() : OpenFile(input.path), limits, read, add_problem);
  if (found.empty() && !problem.empty()) throw Error(problem);
  if (members.empty()) throw Error(fmt::format("--from: no text in {}", ArtifactText(place.artifact)));
  if (found.empty())
    throw Error(fmt::format("--from: {} has only {} lines, not line {}", members.front(), lines, place.range.first));
  if (found.size() > 1)
    throw Error(fmt::format("--from: {} contains {} files with this line; name one of them, for example '{}:{}'",
                            Printable(input.path), found.size(), ArtifactText(found[0].artifact), place.range.first));
  if (found[0].message.lines.empty())
    throw Error(fmt::format("--from: line {} of {} is empty", place.range.first, ArtifactText(found[0].artifact)));
  return std::move(found[0].message);
}

// Returns the lines after the normalization that the engine does.
std::vector<std::string> Cleaned(const Engine& engine, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  LineRange all;
  all.last = lines.size();
  return ReadMessageAt(engine, *OpenMemory(text), all).lines;
}

std::vector<std::string> GivenLines(const Options& options) {
  std::vector<std::string> message(options.new_rule.begin() + 1, options.new_rule.end());
  if (!message.empty()) return message;
  if (InputIsTerminal()) throw Error("rules new: missing message: give its lines, or --from LOG:LINE, or pipe it in");
  constexpr std::size_t kMost = std::size_t{64} << 10;  // enough for a message
  const std::string text = ReadUpTo(*OpenStandardInput(), kMost);
  for (std::size_t begin = 0; begin < text.size(); begin = std::min(text.find('\n', begin), text.size()) + 1)
    message.push_back(text.substr(begin, text.find('\n', begin) - begin));
  return message;
}

// The codes that the existing rules find in the message.
std::vector<std::string> KnownAs(const Engine& engine, const std::vector<std::string>& message) {
  std::string text;
  for (const std::string& line : message) text += line + "\n";
  Readings readings = ReadArtifact(engine, {"message", ""}, *OpenMemory(text));
  std::vector<std::string> codes;
  if (!readings.table) return codes;
  std::vector<Problem> problems;
  for (const Diagnosis& diagnosis : readings.table->Finish(&problems)) codes.push_back(diagnosis.failure->code);
  return codes;
}

struct TriedRule {
  NewRule rule;
  RuleTestResult result;
  std::vector<Fault> faults;
};

TriedRule Try(const std::vector<RuleFile>& files, NewRule rule) {
  TriedRule choice;
  std::vector<RuleFile> all = files;
  all.push_back({"the new rule", rule.text, "", files.empty() ? 1 : files.back().layer + 1});
  const RuleSet rules = RuleSet::Load(all, &choice.faults, RuleSet::BuiltInData::kTrusted);
  if (choice.faults.empty()) choice.result = TestRules(rules);
  choice.rule = std::move(rule);
  return choice;
}

void PrintNote(const std::string& words) { WriteError("whyoom: " + Printable(words) + "\n"); }

void PrintKnownCodes(const std::vector<std::string>& codes, const Failure* extended) {
  if (codes.empty()) return;
  const std::string all = fmt::format("{}", fmt::join(codes, ", "));
  if (extended != nullptr && codes.size() == 1 && codes[0] == extended->code) {
    PrintNote(fmt::format("{} already recognizes this message; nothing needs to be added", all));
  } else if (extended != nullptr) {
    PrintNote(fmt::format(
        "this message is already recognized as {}; with this rule it would be reported as two failures", all));
  } else {
    PrintNote(fmt::format(
        "this message is already recognized as {0}; with its own code it would be reported as two "
        "failures. `whyoom rules new {0} --from …` extends {0}; an entry with the code {0} would replace {0}",
        codes[0]));
  }
}

void PrintAdvice(const TriedRule& choice, const std::string& code, std::size_t rejected, bool is_known) {
  if (rejected > 0 && choice.result.ok())
    PrintNote("the header pattern includes more of the message, because a shorter one would also match other failures");
  if (!choice.result.ok() && !is_known) {
    const std::vector<std::string> failures = choice.result.Failures();
    const bool is_own = std::all_of(failures.begin(), failures.end(),
                                    [&](const std::string& failure) { return failure.starts_with(code + ":"); });
    PrintNote(is_own
                  ? "the rule does not find its own message, which looks like a quotation, for example in source code:"
                  : "this rule conflicts with others; make its header pattern more specific:");
    for (const std::string& failure : failures) WriteError("  " + Printable(failure) + "\n");
  }
  if (!choice.rule.prefilter_literals.empty())
    PrintNote(fmt::format("the prefilter searches logs for '{}'", choice.rule.prefilter_literals[0]));
  PrintNote("replace each TODO, then run: whyoom rules check FILE; whyoom rules test FILE");
}

}  // namespace

int RunNewRule(const Options& options) {
  const RuleSet known = LoadRules(options);
  const Engine engine(known);
  NewRuleRequest request;
  request.code = options.new_rule[0];
  if (Printable(request.code) != request.code || request.code.find(' ') != std::string::npos)
    throw Error(fmt::format("invalid code '{}' (expected one word, for example my.pool)", Printable(request.code)));
  if (options.new_rule_from.empty()) request.messages = {Cleaned(engine, GivenLines(options))};
  if (!options.new_rule_from.empty() && options.new_rule.size() > 1)
    throw Error("rules new: the lines of the message and --from LOG:LINE cannot be used together");
  for (const std::string& from : options.new_rule_from) {
    const LogLines place = ParseLogLines(from);
    request.messages.push_back(ReadPlace(engine, place, options.limits).lines);
    request.from += (request.from.empty() ? "" : " and ") + MaskSecrets(place.text);
  }
  for (std::vector<std::string>& message : request.messages) {
    for (std::string& line : message) line = MaskSecrets(line);  // rule files are shared
  }
  std::vector<NewRule> rules = NewRules(known, request);
  const std::vector<std::string> codes = KnownAs(engine, request.messages[0]);
  const std::vector<RuleFile> files = FindRuleFiles(options).files;
  std::optional<TriedRule> best;
  std::size_t rejected = 0;
  for (NewRule& rule : rules) {
    TriedRule choice = Try(files, std::move(rule));
    const bool better = !best || !best->faults.empty() ||
                        (choice.faults.empty() && choice.result.Failures().size() < best->result.Failures().size());
    if (better) best = std::move(choice);
    if ((best->faults.empty() && best->result.ok()) || !codes.empty()) break;
    ++rejected;
  }
  if (!best->faults.empty()) throw Error("cannot make a rule from this message:\n" + FaultListing(best->faults));
  WriteOutput(best->rule.text, options.output);
  const Failure* const extended = known.FindFailure(request.code);
  PrintKnownCodes(codes, extended);
  PrintAdvice(*best, extended == nullptr ? request.code : extended->code, rejected, !codes.empty());
  return kNothing;
}

}  // namespace whyoom
