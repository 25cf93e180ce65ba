#include "report/html/html_writer.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "text/utf8.h"

namespace whyoom {
namespace {

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// Characters that Unicode has but XML does not.
std::string WithoutNoncharacters(std::string text) {
  for (const std::string_view bad : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {  // U+FFFE, U+FFFF
    for (std::size_t at = text.find(bad); at != std::string::npos; at = text.find(bad, at))
      text.replace(at, bad.size(), "\xEF\xBF\xBD");
  }
  return text;
}

// A number and its unit stay on one line: the blank between them becomes one that no line is broken at.
std::string WithUnits(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "%", "×"};
  const auto joins = [&](std::size_t blank) {
    if (blank == 0 || std::isdigit(static_cast<unsigned char>(text[blank - 1])) == 0) return false;
    const std::string_view rest = text.substr(blank + 1);
    return std::any_of(kUnits.begin(), kUnits.end(), [&](std::string_view unit) { return rest.starts_with(unit); });
  };
  std::string made;
  std::size_t kept = 0;
  for (std::size_t at = text.find(' '); at != std::string_view::npos; at = text.find(' ', at + 1)) {
    if (!joins(at)) continue;
    made.append(text.substr(kept, at - kept)).append("\xC2\xA0");
    kept = at + 1;
  }
  return made.append(text.substr(kept));
}

}  // namespace

void HtmlWriter::Begin(std::string_view element, const Attributes& attributes) {
  html_ += '<';
  html_ += element;
  for (const auto& [name, value] : attributes) {
    html_ += ' ';
    html_ += name;
    html_ += "=\"" + WithoutNoncharacters(Escaped(value)) + '"';
  }
}

HtmlWriter::Scope::~Scope() {
  if (html_ != nullptr) html_->Close(line_);
}

HtmlWriter::Scope HtmlWriter::Open(std::string_view element, const Attributes& attributes, bool line) {
  Begin(element, attributes);
  html_ += '>';
  open_.push_back(element);
  return Scope(this, line);
}

void HtmlWriter::Close(bool line) {
  html_ += "</";
  html_ += open_.back();
  html_ += line ? ">\n" : ">";
  open_.pop_back();
}

void HtmlWriter::Empty(std::string_view element, const Attributes& attributes) {
  Begin(element, attributes);
  html_ += "/>";
}

void HtmlWriter::Element(std::string_view element, std::string_view text, const Attributes& attributes) {
  const Scope in = In(element, attributes);
  Text(text);
}

std::string_view HtmlWriter::HeadingElement(int level) {
  constexpr std::string_view kElements[] = {"h1", "h2", "h3", "h4", "h5", "h6"};
  return kElements[std::clamp(level, 1, 6) - 1];
}

void HtmlWriter::Heading(int level, std::string_view text, const Attributes& attributes) {
  Element(HeadingElement(level), text, attributes);
}

void HtmlWriter::TableHead(const std::vector<Column>& columns) {
  const Scope head = In("thead");
  const Scope row = In("tr");
  for (const Column& column : columns) {
    if (*column.title == '\0') {
      Element("td", "");
    } else {
      Element("th", column.title, {{"scope", "col"}, {"class", column.number ? "number" : "text"}});
    }
  }
}

void HtmlWriter::Text(std::string_view text) { html_ += WithoutNoncharacters(Escaped(text)); }

void HtmlWriter::Words(std::string_view text) { Text(WithUnits(text)); }

void HtmlWriter::Verbatim(std::string_view html) { html_ += html; }

std::string HtmlWriter::Take() { return std::move(html_); }

}  // namespace whyoom
