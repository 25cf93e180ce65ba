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

std::string FailureCommands(const Report& report, const std::string& source_root) {
  std::string text;
  const std::size_t count = report.failures.size();
  const std::size_t shown = count > kMostAnnotations ? kMostAnnotations - 1 : count;  // the last one counts the others
  for (std::size_t i = 0; i < shown; ++i) {
    const Failure& failure = report.failures[i];
    std::string title = RuleId(failure) + " " + Printable(failure.rule->title);
    if (const std::string program = ProgramOf(failure); !program.empty()) title += " (" + program + ")";
    text += Command({"error", title, PrintShort(failure), SourceBelow(source_root, failure)});
  }
  if (count > shown)
    text += Command(
        {"error", "whyoom", fmt::format("{} more failures: see the report in the log of this step", count - shown)});
  return text;
}

std::string RemarkCommands(const Report& report) {
  std::string text;
  for (const Remark& remark : RemarksOf(report, kMostAnnotations)) {
    const std::string hint = remark.hint == nullptr ? "" : std::string("\n\n") + remark.hint;
    text += Command({remark.level, remark.title, remark.Sentence() + hint});
  }
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
  std::string text = FailureCommands(report, source_root) + RemarkCommands(report);
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
