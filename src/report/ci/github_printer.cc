#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "report/failure_view.h"
#include "report/layout.h"
#include "report/printers.h"
#include "report/source_place.h"
#include "report/summary.h"
#include "report/text/text_printer.h"
#include "report/unknown_errors.h"
#include "rules/sha256.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostAnnotations = 10;  // per step and level, as GitHub shows
constexpr std::size_t kLongestTitle = 255;
constexpr std::size_t kLongestMessage = 4000;  // the runner cuts at 4096 characters

std::string Escape(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    if (special.find(c) == std::string_view::npos) {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return escaped;
}

std::string EscapeMessage(std::string_view text) { return Escape(text, "%\r\n"); }

std::string EscapeProperty(std::string_view text) { return Escape(text, "%\r\n:,"); }

struct Annotation {
  const char* level;
  std::string title;
  std::string message;
  std::optional<SourcePlace> source = std::nullopt;  // relative to the source root
};

std::string Command(const Annotation& annotation) {
  std::string properties;
  if (annotation.source)
    properties = fmt::format("file={},line={},", EscapeProperty(annotation.source->path), annotation.source->line);
  return fmt::format("::{} {}title={}::{}\n", annotation.level, properties,
                     EscapeProperty(CutBytes(annotation.title, kLongestTitle)),
                     EscapeMessage(CutBytes(annotation.message, kLongestMessage)));
}

std::optional<SourcePlace> SourceBelow(const std::string& root, const Failure& failure) {
  std::optional<SourcePlace> source = UserSource(failure);
  if (!source || source->line > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  std::optional<std::string> path = RelativeTo(root, source->path);
  if (!path) return std::nullopt;
  source->path = *std::move(path);
  return source;
}

// The number of annotations to print in full: all, or one fewer than the limit, so that the last one can report how
// many more there are.
std::size_t ShownOf(std::size_t count, bool more) {
  return count > kMostAnnotations || (more && count == kMostAnnotations) ? kMostAnnotations - 1 : count;
}

std::string FailureCommands(const Report& report, const std::string& source_root) {
  std::string text;
  const std::size_t shown = ShownOf(report.failures.size(), false);
  for (std::size_t i = 0; i < shown; ++i) {
    const Failure& failure = report.failures[i];
    std::string title = RuleId(failure) + " " + Printable(failure.rule->title);
    if (const std::string program = ProgramOf(failure); !program.empty()) title += " (" + program + ")";
    text += Command({"error", title, PrintShort(failure), SourceBelow(source_root, failure)});
  }
  if (const std::size_t more = report.failures.size() - shown; more > 0)
    text += Command({"error", "whyoom", fmt::format("{} more failures: see the report in the log of this step", more)});
  return text;
}

std::string ProblemCommands(const Report& report) {
  std::string text;
  const std::vector<const Problem*> problems = UnreadInputs(report);
  const std::uint64_t left_out = UnreadInputsLeftOut(report);
  const std::size_t shown = ShownOf(problems.size(), left_out > 0);
  for (std::size_t i = 0; i < shown; ++i)
    text += Command({"warning", "whyoom could not read everything", ProblemText(*problems[i])});
  if (const std::uint64_t more = problems.size() - shown + left_out; more > 0)
    text += Command({"warning", "whyoom could not read everything", fmt::format("{} more problems", more)});
  return text;
}

// Annotates only the first errors; the report in the step's log lists the others.
std::string UnknownErrorCommands(const Report& report) {
  constexpr std::size_t kMostUnknown = 3;
  const std::vector<const Problem*> unknown = UnknownErrors(report);
  const char* level = report.strict ? "error" : "warning";
  const std::size_t shown = std::min(unknown.size(), kMostUnknown);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += Command(
        {level, kUnknownErrors,
         fmt::format("{}: {}\n\n{}", UnknownErrorPlace(*unknown[i]), UnknownErrorText(*unknown[i]), kRuleHint)});
  }
  if (const std::uint64_t more = unknown.size() - shown + UnknownErrorsLeftOut(report); more > 0)
    text += Command({level, kUnknownErrors, fmt::format("{} more: see the report in the log of this step", more)});
  return text;
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// The token that makes the runner obey commands again. The text must not contain it, in upper or lower case. It is a
// digest of the text, or of the text and that digest if the text contains the digest.
std::string EndToken(const std::string& text) {
  const std::string lower = LowerCase(text);
  std::string token = Sha256Hex(text);
  while (lower.find(token) != std::string::npos) token = Sha256Hex(token + text);
  return token;
}

// The runner treats "::x::" at the start of a line and "##[x]" anywhere in it as commands. Escaping lines is not
// enough, so commands are disabled for this text.
std::string Inert(const std::string& text) {
  const std::string token = EndToken(text);
  return "::stop-commands::" + token + "\n" + text + "::" + token + "::\n";
}

}  // namespace

std::string PrintGithub(const Report& report, const std::string& source_root) {
  const std::string inputs = Counted(report.artifacts, "input", "inputs");
  std::string text = FailureCommands(report, source_root) + UnknownErrorCommands(report) + ProblemCommands(report);
  const bool none_read = NothingRead(report);
  if (report.failures.empty() && !none_read)
    text += Command({"notice", "whyoom", NothingFoundText(report) + " in " + inputs});
  if (const std::string hidden_failures = HiddenText(report); !hidden_failures.empty())
    text += Command({"notice", "whyoom", hidden_failures});
  if (report.failures.empty() && report.problems.empty()) return text;
  text += "::group::whyoom: " + Counted(report.failures.size(), "failure", "failures") + " in " + inputs + "\n";
  text += Inert(PrintText(report, TextOptions()));
  return text + "::endgroup::\n";
}

}  // namespace whyoom
