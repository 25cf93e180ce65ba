#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/complete.h"
#include "report/layout.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// "Title:" with indented lines below, or "Title: text", or text.
struct FooterParagraph {
  std::string title;
  std::vector<std::string> lines;
  bool is_verbatim = false;  // print the lines as they are instead of filling them
};

// Splits the footer at empty lines.
std::vector<FooterParagraph> FooterParagraphs(const std::string& footer) {
  std::vector<FooterParagraph> paragraphs = {{}};
  std::istringstream in(footer);
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) {
      paragraphs.emplace_back();
      continue;
    }
    FooterParagraph& last = paragraphs.back();
    if (last.lines.empty() && last.title.empty() && line.back() == ':') {
      last.title = line.substr(0, line.size() - 1);
      last.is_verbatim = true;
    } else if (constexpr std::string_view kStatus = "Exit status: "; line.starts_with(kStatus)) {
      last.title = "Exit status";
      last.lines.push_back(line.substr(kStatus.size()));
    } else {
      last.lines.push_back(last.is_verbatim ? line.substr(std::min<std::size_t>(2, line.size())) : line);
    }
  }
  std::erase_if(paragraphs, [](const FooterParagraph& each) { return each.lines.empty() && each.title.empty(); });
  return paragraphs;
}

constexpr std::size_t kIndent = 2;
constexpr std::size_t kColumn = 28;  // where descriptions of options begin
constexpr std::size_t kShortColumn = 23;
constexpr std::size_t kScreenColumns = 80;
constexpr std::size_t kScreenRows = 24;

// -h shows these options first, if the command has them.
constexpr const char* kMostUsed[] = {"--format",   "--output",     "--brief",  "--all",     "--framework",
                                     "--xla-dump", "--exit-retry", "--from",   "--healthy", "--select",
                                     "--baseline", "--quiet",      "--verbose"};

// "-o,--output FILE".
std::string Synopsis(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames()) text += (text.empty() ? "-" : ",-") + name;
  for (const std::string& name : option.get_lnames()) text += (text.empty() ? "--" : ",--") + name;
  if (text.empty()) return option.get_type_name();
  return option.get_items_expected_max() == 0 ? text : text + " " + option.get_type_name();
}

std::string Entry(const std::string& name, const std::string& about, std::size_t width) {
  const std::string lead = std::string(kIndent, ' ') + name;
  const std::size_t taken = DisplayWidth(lead);
  if (taken + 2 <= kColumn) return Hanging(lead + std::string(kColumn - taken, ' '), kColumn, about, width);
  return lead + "\n" + Hanging(std::string(kColumn, ' '), kColumn, about, width);
}

std::string Wrapped(const std::string& text, std::size_t width) {
  std::string page;
  for (const std::string& line : Wrap(text, width)) page += line + "\n";
  return page;
}

// Wraps the second part of a line such as "  whyoom merge FILE ...    one report from many" in its own column.
std::string CommandRow(const std::string& line, std::size_t width) {
  const std::string whole = std::string(kIndent, ' ') + line;
  const std::size_t gap = line.find("   ");
  if (DisplayWidth(whole) <= width || gap == std::string::npos) return whole + "\n";
  const std::size_t about = line.find_first_not_of(' ', gap);
  return Entry(line.substr(0, gap), line.substr(about), width);
}

std::string FooterText(const CLI::App& app, std::size_t width) {
  std::string text;
  for (const FooterParagraph& paragraph : FooterParagraphs(app.get_footer())) {
    text += "\n";
    if (paragraph.is_verbatim) {
      text += paragraph.title + ":\n";
      for (const std::string& line : paragraph.lines) text += CommandRow(line, width);
      continue;
    }
    std::string filled = paragraph.title.empty() ? "" : paragraph.title + ":";
    for (const std::string& line : paragraph.lines) filled += (filled.empty() ? "" : " ") + line;
    text += Wrapped(filled, width);
  }
  return text;
}

std::vector<std::string> Examples(const CLI::App& app) {
  for (const FooterParagraph& paragraph : FooterParagraphs(app.get_footer())) {
    if (paragraph.title == "Examples") return paragraph.lines;
  }
  return {};
}

std::string WithoutBrackets(const std::string& text) {
  std::string plain;
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (depth == 0) plain += c;
    if (c == ')') --depth;
    if (c == ')' && plain.ends_with(' ')) plain.pop_back();
  }
  return plain;
}

// Shortens `phrase` to `columns`. Cuts at a comma if a third of the columns remains and the phrase is not a list.
std::string Cut(const std::string& phrase, std::size_t columns) {
  if (DisplayWidth(phrase) <= columns) return phrase;
  const std::size_t comma = phrase.rfind(", ", columns);
  const bool is_list = std::count(phrase.begin(), phrase.end(), ',') > 3;
  return comma == std::string::npos || comma < columns / 3 || is_list ? Fit(phrase, columns) : phrase.substr(0, comma);
}

std::string OptionRow(const std::string& name, const std::string& about) {
  const std::string lead = std::string(kIndent, ' ') + name;
  const std::size_t column = std::max(kShortColumn, DisplayWidth(lead) + 2);
  const std::string phrase = WithoutBrackets(Phrase(about));
  const std::size_t columns = kScreenColumns - std::min(column, kScreenColumns);
  return lead + std::string(column - DisplayWidth(lead), ' ') + Cut(phrase, columns) + "\n";
}

std::vector<const CLI::Option*> MostUsedFirst(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  const auto add = [&](const CLI::Option* option) {
    if (option != nullptr && !option->get_positional() && option != app.get_help_ptr() &&
        std::find(options.begin(), options.end(), option) == options.end())
      options.push_back(option);
  };
  for (const char* name : kMostUsed) add(app.get_option_no_throw(name));
  for (const CLI::Option* option : app.get_options()) add(option);
  return options;
}

}  // namespace

std::vector<const CLI::Option*> Positionals(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::string FullName(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : FullName(*parent) + " " + app.get_name();
}

std::string UsageLine(const CLI::App& app, const std::string& trailer) {
  std::string usage = FullName(app);
  if (!app.get_subcommands({}).empty()) return usage + " COMMAND";
  usage += " [OPTIONS]";
  for (const CLI::Option* option : Positionals(app)) {
    std::string word = option->get_type_name();
    if (option->get_items_expected_max() > 1) word += " ...";
    usage += option->get_required() ? " " + word : " [" + word + "]";
  }
  return trailer.empty() ? usage : usage + " " + trailer;
}

std::string LongHelp(const CLI::App& app, const std::string& trailer, std::size_t width) {
  std::string text = Wrapped(app.get_description(), width) + "\nUsage: " + UsageLine(app, trailer) + "\n\n";
  for (const CLI::Option* option : Positionals(app)) text += Entry(Synopsis(*option), option->get_description(), width);
  for (const std::string& group : app.get_groups()) {
    const auto options = app.get_options(
        [&](const CLI::Option* option) { return !option->get_positional() && option->get_group() == group; });
    if (options.empty()) continue;
    text += (text.ends_with("\n\n") ? "" : "\n") + Wrapped(group + ":", width);
    for (const CLI::Option* option : options) text += Entry(Synopsis(*option), option->get_description(), width);
  }
  const auto commands = app.get_subcommands({});
  if (!commands.empty()) text += "\nCommands:\n";
  for (const CLI::App* command : commands) text += Entry(command->get_name(), command->get_description(), width);
  return text + FooterText(app, width);
}

std::string ShortHelp(const CLI::App& app, const std::string& trailer) {
  const std::string name = FullName(app);
  const std::vector<std::string> examples = Examples(app);
  std::vector<std::string> rows;
  for (const std::string& line : examples) rows.push_back(std::string(kIndent, ' ') + line + "\n");
  if (examples.empty()) rows.push_back(UsageLine(app, trailer) + "\n");
  rows.emplace_back("\n");
  for (const std::string& line : Wrap(app.get_description(), kScreenColumns)) rows.push_back(line + "\n");
  rows.emplace_back("\n");
  const bool is_main = app.get_parent() == nullptr && name.find(' ') == std::string::npos;
  const std::vector<std::string> end = {
      "\n",
      "Full help: " + name + " --help" + (is_main ? "; more commands: merge, rules, completions, skill\n" : "\n")};
  for (const CLI::App* command : app.get_subcommands({}))
    rows.push_back(OptionRow(command->get_name(), command->get_description()));
  for (const CLI::Option* option : MostUsedFirst(app)) {
    if (rows.size() + end.size() >= kScreenRows - 1) break;  // one row for the prompt
    rows.push_back(OptionRow(Synopsis(*option), option->get_description()));
  }
  std::string text;
  for (const std::string& row : rows) text += row;
  for (const std::string& row : end) text += row;
  return text;
}

}  // namespace whyoom
