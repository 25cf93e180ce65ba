#include "cli/man_page.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/footer.h"
#include "cli/help.h"

namespace whyoom {
namespace {

// Groff would make typographic quotes, hyphens and accents of these; the page is ASCII.
constexpr std::pair<std::string_view, std::string_view> kRoffNames[] = {{"\\", "\\(rs"}, {"-", "\\-"},   {"'", "\\(aq"},
                                                                        {"`", "\\(ga"},  {"^", "\\(ha"}, {"~", "\\(ti"},
                                                                        {"\"", "\\(dq"}, {"…", "\\&..."}};

// Text as it is to be read. A line that begins with a dot would be a request.
std::string Roff(std::string_view text) {
  std::string roff;
  for (std::size_t i = 0; i < text.size();) {
    const auto* const name = std::find_if(std::begin(kRoffNames), std::end(kRoffNames),
                                          [&](const auto& each) { return text.substr(i).starts_with(each.first); });
    const bool is_named = name != std::end(kRoffNames);
    if (text[i] == '.' && (i == 0 || text[i - 1] == '\n')) roff += "\\&";
    roff += is_named ? name->second : text.substr(i, 1);
    i += is_named ? name->first.size() : 1;
  }
  return roff;
}

std::string Bold(std::string_view text) { return "\\fB" + Roff(text) + "\\fR"; }
std::string Italic(std::string_view text) { return "\\fI" + Roff(text) + "\\fR"; }

std::string UpperCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

class RoffPage {
 public:
  void Line(const std::string& roff) { out_ += roff + "\n"; }
  void Section(const std::string& title) { Line(".SH " + Roff(title)); }
  void Subsection(const std::string& title) { Line(".SS " + Roff(title)); }

  void Entry(const std::string& roff, const std::string& about) { Line(".TP\n" + roff + "\n" + Roff(about)); }

  void Text(const FooterParagraph& paragraph) {
    if (paragraph.as_it_stands) Line(".nf");
    for (const std::string& line : paragraph.lines) Line(Roff(line));
    if (paragraph.as_it_stands) Line(".fi");
  }

  void Option(const CLI::Option& option) {
    std::string names;
    for (const std::string& name : option.get_snames()) names += (names.empty() ? "" : ", ") + Bold("-" + name);
    for (const std::string& name : option.get_lnames()) names += (names.empty() ? "" : ", ") + Bold("--" + name);
    const bool flag = option.get_items_expected_max() == 0;
    if (!flag) names += (names.empty() ? "" : " ") + Italic(option.get_type_name());
    Entry(names, option.get_description());
  }

  // All options, each group under its name, which `heading` prints.
  template <typename Heading>
  void Options(const CLI::App& app, Heading heading) {
    for (const CLI::Option* option : Positionals(app)) Option(*option);
    for (const std::string& group : app.get_groups()) {
      const auto options = app.get_options(
          [&](const CLI::Option* option) { return !option->get_positional() && option->get_group() == group; });
      if (options.empty()) continue;
      heading(group);
      for (const CLI::Option* option : options) Option(*option);
    }
  }

  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

// A command that can be called: one of Commands(), or one of its subcommands.
struct Callable {
  const CLI::App* app = nullptr;
  std::string name;     // "whyoom rules list"
  std::string trailer;  // CommandArguments::trailer
};

std::vector<Callable> Flattened(const std::vector<CommandArguments>& commands) {
  std::vector<Callable> flat;
  for (const CommandArguments& command : commands) {
    const std::string name = command.app->get_name();
    const auto subcommands = command.app->get_subcommands({});
    if (subcommands.empty()) flat.push_back({command.app.get(), name, command.trailer});
    for (const CLI::App* sub : subcommands) flat.push_back({sub, name + " " + sub->get_name(), ""});
  }
  return flat;
}

// "whyoom merge [OPTIONS] [FILE ...]"
std::string Usage(const Callable& command) {
  std::string usage = Bold(command.name) + " [" + Italic("OPTIONS") + "]";
  for (const CLI::Option* option : Positionals(*command.app)) {
    std::string word = Italic(option->get_type_name());
    if (option->get_items_expected_max() > 1) word += " ...";
    usage += option->get_required() ? " " + word : " [" + word + "]";
  }
  return command.trailer.empty() ? usage : usage + " " + Roff(command.trailer);
}

void AddCommand(const Callable& command, RoffPage* page) {
  page->Subsection(command.name);
  page->Line(Roff(command.app->get_description()));
  page->Options(*command.app, [](const std::string&) {});
  for (const FooterParagraph& paragraph : FooterParagraphs(command.app->get_footer())) {
    page->Line(".PP");
    if (!paragraph.title.empty()) page->Line(Roff(paragraph.title) + ":");
    page->Text(paragraph);
  }
}

constexpr std::pair<const char*, const char*> kEnvironment[] = {
    {"NO_COLOR", "If set and not empty, no colours, unless --color always is given."},
    {"CLICOLOR_FORCE, FORCE_COLOR", "If set, not empty and not 0, colours also where the output is no terminal."},
    {"COLUMNS",
     "How wide the text on standard output is, 60 to 120, and --help, up to 110; else as the terminal is, or 80."},
    {"GITHUB_STEP_SUMMARY", "The file that --step-summary appends to."},
    {"WHYOOM_RULES",
     "Rule files and folders, with colons between them, as for --rules: later ones override earlier ones, --rules "
     "overrides them all, and they override the project's .whyoom/rules."},
    {"XLA_FLAGS", "whyoom run adds --xla_dump_to to it, for the job."},
    {"TMPDIR", "Where whyoom run keeps the XLA dump while the job runs."},
};

}  // namespace

std::string ManPage() {
  Options unused;
  std::vector<CommandArguments> built;
  for (const CommandDefinition& command : Commands()) built.push_back(command.build(&unused));
  const std::vector<Callable> commands = Flattened(built);
  const CLI::App& main = *commands.front().app;

  RoffPage page;
  page.Line(".TH WHYOOM 1 \"\" \"whyoom " WHYOOM_VERSION "\" \"User Commands\"");
  page.Line(".nh");    // what is typed must not be cut,
  page.Line(".ad l");  // nor spread
  page.Section("NAME");
  page.Line("whyoom \\- explain XLA TPU out\\-of\\-memory errors in job logs");
  page.Section("SYNOPSIS");
  page.Line(".nf");
  for (const Callable& command : commands) page.Line(Usage(command));
  page.Line(".fi");
  page.Section("DESCRIPTION");
  page.Line(Roff(main.get_description()));
  page.Section("OPTIONS");
  page.Options(main, [&](const std::string& group) { page.Subsection(group); });
  page.Section("COMMANDS");
  for (std::size_t i = 1; i < commands.size(); ++i) AddCommand(commands[i], &page);
  for (const FooterParagraph& paragraph : FooterParagraphs(main.get_footer())) {
    if (paragraph.title == "More commands") continue;  // all have been said
    page.Section(UpperCase(paragraph.title));
    page.Text(paragraph);
  }
  page.Section("ENVIRONMENT");
  for (const auto& [name, about] : kEnvironment) page.Entry(Bold(name), about);
  return page.Take();
}

}  // namespace whyoom
