#include "report/html/html_writer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "report/encodings.h"
#include "rules/sha256.h"
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

// Replaces characters that are valid in Unicode but not in XML.
std::string WithoutNoncharacters(std::string text) {
  for (const std::string_view bad : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {  // U+FFFE, U+FFFF
    for (std::size_t at = text.find(bad); at != std::string::npos; at = text.find(bad, at))
      text.replace(at, bad.size(), "\xEF\xBF\xBD");
  }
  return text;
}

// Replaces the blank between a number and its unit with a no-break space.
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

// The hash of an inline script or style, as a Content-Security-Policy allows it: "'sha256-…'".
std::string SourceHash(std::string_view text) {
  const std::string hex = Sha256Hex(text);
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + ToBase64(bytes) + "'";
}

// A small icon. Without one, a browser requests it from the page's server.
constexpr const char* kIcon =
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' "
    "rx='3' fill='%232f6db3'/%3E%3Cpath d='M3 5h10v2H3zM3 9h6v2H3z' fill='%23fff'/%3E%3C/svg%3E";

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

// HTML and XML parsers must see the same text in `script` and `style`, so that the hashes match in both.
void AddHead(const std::string& title, bool with_script, HtmlWriter* html) {
  const std::string style(PageStyle());
  const std::string script(PageScript());
  std::string policy =
      "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + SourceHash(style);
  if (with_script) policy += "; script-src " + SourceHash(script);
  const auto head = html->Block("head");
  html->Empty("meta", {{"charset", "utf-8"}});
  html->Empty("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy}});
  html->Empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html->Empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  html->Element("title", title + " · whyoom");
  html->Empty("link", {{"rel", "icon"}, {"href", kIcon}});
  {
    const auto in = html->In("style");
    html->Verbatim(style);
  }
  if (!with_script) return;
  const auto in = html->In("script", {{"type", "module"}});
  html->Verbatim(script);
}

void AddPatterns(HtmlWriter* html) {
  const auto svg =
      html->Block("svg", {{"class", "patterns"}, {"width", "0"}, {"height", "0"}, {"aria-hidden", "true"}});
  const auto defs = html->In("defs");
  const auto pattern = html->In("pattern", {{"id", "hatch"},
                                            {"width", "6"},
                                            {"height", "6"},
                                            {"patternUnits", "userSpaceOnUse"},
                                            {"patternTransform", "rotate(45)"}});
  html->Empty("rect", {{"class", "hatching"}, {"width", "3"}, {"height", "6"}});
}

}  // namespace whyoom
