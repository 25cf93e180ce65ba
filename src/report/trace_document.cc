#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "report/command_documents.h"
#include "report/failure_view.h"
#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Words;
using Entries = std::vector<RecordEntry>;

constexpr std::size_t kLineBytes = 160;  // shown of a log line
constexpr std::size_t kTextBytes = 200;  // shown of a pattern, value or sentence
constexpr std::size_t kMostLines = 40;   // shown
constexpr int kFirstDepth = 2;           // of the steps of a line or a diagnosis
constexpr int kDepth = 4;                // levels of nested conditions shown

std::string Cut(std::string_view text, std::size_t bytes) { return CutBytes(MaskSecrets(Printable(text)), bytes); }

doc::Paragraph Text(const std::string& text) { return doc::Paragraph{Words(text)}; }

// Lays out the entries from `*at` on, up to the first of a smaller depth. The label of a condition is its result, and
// the label of any other entry is its name.
doc::Blocks StepBlocks(const Entries& entries, std::size_t* at, int depth = kFirstDepth) {
  doc::List fields{doc::List::Style::kFields, {}};
  while (*at < entries.size() && entries[*at].depth >= depth) {
    const RecordEntry& entry = entries[(*at)++];
    std::string detail = entry.detail.empty() ? "" : "  [" + Cut(entry.detail, kTextBytes) + "]";
    if (entry.line > 0) detail += fmt::format(" (line {})", entry.line);
    std::string label = Cut(entry.result, kTextBytes);
    std::string text = Cut(entry.what, kTextBytes);
    if (entry.depth == kFirstDepth && entry.result != "yes" && entry.result != "no") label.swap(text);
    doc::Blocks parts = StepBlocks(entries, at, entry.depth + 1);
    if (entry.depth >= kDepth) parts.clear();
    fields.items.push_back({Words(text + detail), std::move(parts), Words(label)});
  }
  if (fields.items.empty()) return {};
  return {std::move(fields)};
}

// The entries of a line, which may be recorded in several parts.
struct RecordedLine {
  std::string text;
  Entries entries;  // what the patterns did
};

using PlaceOfLine = std::pair<std::string, std::uint64_t>;  // the input, and the line's number

std::map<PlaceOfLine, RecordedLine> LinesOf(const LogTrace& trace) {
  std::map<PlaceOfLine, RecordedLine> lines;
  std::string input;
  RecordedLine* line = nullptr;
  for (const RecordEntry& entry : trace.reading) {
    if (entry.depth == 0) input = entry.what;
    if (entry.depth == 1) {
      line = &lines[{input, entry.line}];
      line->text = entry.what;
    }
    if (entry.depth > 1) line->entries.push_back(entry);
  }
  return lines;
}

// Lists patterns that match first. If one does and `all` is false, only counts those that do not match.
doc::Section LineSection(const PlaceOfLine& place, RecordedLine line, bool all) {
  const std::string input = place.first == "-" ? "standard input" : Cut(place.first, kLineBytes);
  doc::Section section{fmt::format("{}:{}", input, place.second), {}};
  section.blocks.emplace_back(Text(Cut(line.text, kLineBytes)));
  const auto others = std::stable_partition(line.entries.begin(), line.entries.end(), [](const RecordEntry& entry) {
    return entry.result.starts_with("matches");
  });
  const auto count = static_cast<std::size_t>(line.entries.end() - others);
  const bool is_brief = !all && others != line.entries.begin() && count > 0;
  if (is_brief) line.entries.erase(others, line.entries.end());
  std::size_t at = 0;
  for (doc::Block& block : StepBlocks(line.entries, &at)) section.blocks.push_back(std::move(block));
  if (is_brief)
    section.blocks.emplace_back(Text(fmt::format("{} with a literal in this line (trace LOG:{} to list them)",
                                                 Counted(count, "more pattern", "more patterns"), place.second)));
  return section;
}

void AddLines(const LogTrace& trace, doc::Blocks* blocks) {
  std::map<PlaceOfLine, RecordedLine> lines = LinesOf(trace);
  std::size_t shown = 0;
  for (auto& [place, line] : lines) {
    if (++shown <= kMostLines) blocks->emplace_back(LineSection(place, std::move(line), trace.line > 0));
  }
  if (shown > kMostLines)
    blocks->emplace_back(Text(fmt::format("{} more lines; trace LOG:LINE for one of them.", shown - kMostLines)));
  if (lines.empty() && trace.line > 0)
    blocks->emplace_back(
        Text(fmt::format("Line {} was not examined: no literal of the rules is in it or near it.", trace.line)));
  if (lines.empty() && trace.line == 0) blocks->emplace_back(Text("No line contains a literal of the rules."));
}

void AddFailures(const LogTrace& trace, doc::Blocks* blocks) {
  std::size_t shown = 0;
  const Entries& entries = trace.conclusions;
  for (std::size_t at = 0; at < entries.size();) {
    const RecordEntry& rule = entries[at++];
    doc::Section section{fmt::format("{}. {}", ++shown, Cut(rule.what, kTextBytes)), {}};
    section.blocks.emplace_back(Text(Cut(rule.detail, kTextBytes)));
    while (at < entries.size() && entries[at].depth == 1) {
      const std::string title = entries[at++].what;
      doc::AddSection({title, StepBlocks(entries, &at)}, &section.blocks);
    }
    blocks->emplace_back(std::move(section));
  }
  if (trace.failures == 0) blocks->emplace_back(Text("No failure was found."));
  if (shown < trace.failures)
    blocks->emplace_back(
        Text(fmt::format("{} more failures; trace LOG:LINE for those at a line.", trace.failures - shown)));
}

}  // namespace

doc::Blocks TraceBlocks(const LogTrace& trace) {
  const std::string line = trace.line == 0 ? "" : fmt::format("line {}, ", trace.line);
  doc::Blocks blocks = {doc::Verdict{0, "", Words(line + Counted(trace.failures, "failure", "failures"))}};
  AddLines(trace, &blocks);
  AddFailures(trace, &blocks);
  doc::List warnings;
  if (trace.is_truncated)
    warnings.items.push_back(
        doc::Warning(Words("too many lines with literals: the last ones are not traced (trace LOG:LINE)")));
  for (const Problem& problem : trace.problems) {
    if (!problem.is_unknown_error())
      warnings.items.push_back(
          doc::Warning(Words(ArtifactText({problem.path, problem.member}) + ": " + Printable(problem.what))));
  }
  if (!warnings.items.empty()) blocks.emplace_back(std::move(warnings));
  return blocks;
}

}  // namespace whyoom
