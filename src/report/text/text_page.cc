#include "report/text/text_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/layout.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kShortestSentence = 24;  // columns; less says too little
constexpr std::size_t kNarrowest = 40;         // columns; a narrower page would be unreadable

}  // namespace

std::string Style::Wrap(std::string_view code, std::string_view text) const {
  if (!colour_ || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

TextPage::TextPage(const TextOptions& options) : width_(std::max(options.width, kNarrowest)), style_(options.colour) {}

void TextPage::Line(std::string_view styled) {
  out_ += styled;
  out_ += '\n';
}

void TextPage::IndentedLine(std::string_view styled) {
  const std::string label = std::exchange(label_, "");
  Line(style_.Label(label) + std::string(kIndent - std::min(kIndent, label.size()), ' ').append(styled));
}

// Cuts after a sentence, else after a word.
std::string TextPage::Cut(std::string_view text, std::size_t columns, std::size_t most, std::size_t own) {
  if (!spare_lines_) return std::string(text);
  const std::vector<std::string> lines = Wrap(text, columns);
  const std::size_t more = std::min(lines.size() - 1, std::max(own - 1, std::min(most - 1, own - 1 + *spare_lines_)));
  *spare_lines_ -= more - std::min(more, own - 1);
  if (more + 1 == lines.size()) return std::string(text);
  std::string kept;
  for (std::size_t i = 0; i <= more; ++i) kept += (i == 0 ? "" : " ") + lines[i];
  if (kept.ends_with('.')) return kept + " …";
  if (const std::size_t end = kept.rfind(". "); end != std::string::npos && end >= kShortestSentence)
    return kept.substr(0, end + 1) + " …";
  if (DisplayWidth(lines[more]) + 2 > columns) kept.erase(std::min(kept.rfind(' '), kept.size()));
  return kept + " …";
}

void TextPage::Hang(const std::string& lead, std::size_t column, std::string_view text, std::size_t most,
                    std::size_t own) {
  out_ += Hanging(lead, column, Cut(text, width_ > column ? width_ - column : 1, most, own), width_);
}

void TextPage::Rule() {
  if (out_.empty()) return;
  std::string rule;
  for (std::size_t i = 0; i < width_; ++i) rule += "─";
  Blank();
  Line(style_.Faint(rule));
  Blank();
}

void TextPage::Title(std::string_view name, std::string_view title) {
  const std::size_t column = DisplayWidth(name) + 2;
  const std::vector<std::string> lines = whyoom::Wrap(title, width_ > column ? width_ - column : 1);
  Line(style_.Error(name) + "  " + style_.Strong(lines.front()));
  for (std::size_t i = 1; i < lines.size(); ++i) Line(std::string(column, ' ') + style_.Strong(lines[i]));
}

void TextPage::Heading(std::string_view text) {
  Blank();
  Line(style_.Label(text));
}

void TextPage::Paragraph(std::string_view text, std::size_t column, Look look) {
  Whole(Cut(text, width_ > column ? width_ - column : 1), column, look);
}

void TextPage::Whole(std::string_view text, std::size_t column, Look look) {
  const std::string blanks(column, ' ');
  for (const std::string& line : Wrap(text, width_ > column ? width_ - column : 1))
    Line(blanks + (look == nullptr ? line : (style_.*look)(line)));
}

void TextPage::Beside(std::string_view label, std::string_view text, std::size_t own) {
  const std::string blanks(kIndent - std::min(kIndent, DisplayWidth(label)), ' ');
  Hang(style_.Label(label) + blanks, kIndent, text, 2, own);
}

void TextPage::Item(std::string_view label, std::size_t column, std::string_view text) {
  const std::size_t gap = column > label.size() ? column - label.size() : 1;
  out_ += Hanging(style_.Strong(label) + std::string(gap, ' '), label.size() + gap, text, width_);
}

void TextPage::Step(std::size_t column, std::string_view text, bool whole) {
  std::string lead = std::string(column, ' ') + "→ ";
  if (whole) return Line(lead.append(text));
  Hang(lead, column + 2, text, 3, step_lines_);
}

void TextPage::Warning(std::string_view text) {
  constexpr std::string_view kLead = "warning: ";
  out_ += Hanging(style_.Warning(kLead), kLead.size(), text, width_);
}

}  // namespace whyoom
