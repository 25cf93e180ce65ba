#include "cli/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "cli/commands.h"
#include "cli/embedded.h"

namespace whyoom {
namespace {

using Fill = Completion::Fill;

bool IsFlag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

std::vector<std::string> Names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// The state of the command line before the word to complete.
struct Position {
  const CLI::Option* value_of = nullptr;  // the option whose value comes next
  std::set<const CLI::Option*> given;
  std::size_t positionals = 0;
  bool options_ended = false;  // whether "--" was seen
};

Position FindPosition(const CLI::App& app, const std::vector<std::string>& words) {
  Position at;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool is_option = !at.options_ended && word.size() > 1 && word[0] == '-';
    if (!is_option) {
      ++at.positionals;
    } else if (word == "--") {
      at.options_ended = true;
    } else if (const CLI::Option* option = app.get_option_no_throw(word.substr(0, word.find('=')))) {
      at.given.insert(option);
      if (IsFlag(*option) || word.find('=') != std::string::npos) continue;
      if (!TakesNextWord(*option, i + 1 < words.size() ? words[i + 1] : "")) continue;
      if (++i == words.size()) at.value_of = option;
    }
  }
  return at;
}

// Collects the completions of one word.
class CompletionBuilder {
 public:
  CompletionBuilder(const std::string& current, const ValueWords& words, const WordSources& known)
      : current_(current), words_(words), known_(known) {}

  void Add(const std::string& text, const std::string& about) {
    if (text.starts_with(current_)) completion_.words.push_back({text, about});
  }

  void AddOptions(const CLI::App& app, const std::set<const CLI::Option*>& given) {
    for (const CLI::Option* option : app.get_options()) {
      const bool once = option->get_expected_max() <= 1;
      if (once && given.contains(option)) continue;
      for (const std::string& name : Names(*option)) Add(name, Phrase(option->get_description()));
    }
  }

  void AddSubcommands(const CLI::App& app) {
    for (const CLI::App* sub : app.get_subcommands({})) Add(sub->get_name(), Phrase(sub->get_description()));
  }

  void AddValues(const CLI::Option& option, const std::string& prefix) {
    const std::string type = option.get_type_name();
    const std::size_t equals = current_.find('=', prefix.size());
    if (const auto words = words_.find(&option); words != words_.end()) {
      for (const Word& word : words->second) Add(prefix + word.text, word.about);
      if (type.starts_with("FORMAT[=FILE]") && equals != std::string::npos)
        AddFill(Fill::kFiles, current_.substr(0, equals + 1));
    } else if (type == "TOPIC") {
      for (const Word& topic : known_.topics()) Add(prefix + topic.text, topic.about);
    } else if (type.starts_with("FRAMEWORK")) {
      for (const Word& framework : known_.frameworks()) Add(prefix + framework.text, framework.about);
      if (type.ends_with("|all")) Add(prefix + "all", "every framework");
    } else if (type == "CODE,...") {
      const std::size_t comma = current_.rfind(',');
      const std::string before = comma == std::string::npos ? prefix : current_.substr(0, comma + 1);
      for (const Word& code : known_.codes()) Add(before + code.text, code.about);
    } else if (type == "DIR") {
      AddFill(Fill::kFolders, prefix);
    } else if (static const std::set<std::string> files = {"FILE", "FILE|DIR", "SECTION|FILE", "LOG:LINE", "LOG[:LINE]",
                                                           "PATH", "STATE", "BEFORE", "AFTER"};
               files.contains(type)) {
      AddFill(Fill::kFiles, prefix);
    }
  }

  void AddFill(Fill fill, const std::string& prefix) {
    completion_.fill = fill;
    completion_.prefix = prefix;
  }

  void AddJob(std::size_t begin) {
    completion_.fill = Fill::kJob;
    completion_.job_begin = begin;
  }

  Fill fill() const { return completion_.fill; }
  Completion Take() { return std::move(completion_); }

 private:
  const std::string& current_;
  const ValueWords& words_;
  const WordSources& known_;
  Completion completion_;
};

// The positional argument after `count` others, or nullptr.
const CLI::Option* NextPositional(const CLI::App& app, std::size_t count) {
  for (const CLI::Option* option : app.get_options([](const CLI::Option* each) { return each->get_positional(); })) {
    const std::size_t most = static_cast<std::size_t>(std::max(1, option->get_items_expected_max()));
    if (count < most) return option;
    count -= most;
  }
  return nullptr;
}

void OfferArgument(const CLI::App& app, const std::vector<std::string>& before, const std::string& current,
                   CompletionBuilder* offers) {
  const Position at = FindPosition(app, before);
  const std::size_t equals = current.find('=');
  if (at.value_of != nullptr) {
    offers->AddValues(*at.value_of, "");
  } else if (!at.options_ended && current.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = app.get_option_no_throw(current.substr(0, equals));
    if (option != nullptr && !IsFlag(*option)) offers->AddValues(*option, current.substr(0, equals + 1));
  } else if (!at.options_ended && current.starts_with("-")) {
    offers->AddOptions(app, at.given);
  } else if (const CLI::Option* option = NextPositional(app, at.positionals)) {
    offers->AddValues(*option, "");
  }
}

// Index of the first word of the job's command among the words of `run`, or nullopt if the last word belongs to whyoom.
std::optional<std::size_t> JobWord(const CLI::App& app, const std::vector<std::string>& before,
                                   const std::string& current) {
  const std::size_t begin = JobBegin(app, before);
  if (begin < before.size()) return before[begin] == "--" ? begin + 1 : begin;
  if (FindPosition(app, before).value_of != nullptr || current.starts_with("-")) return std::nullopt;
  return before.size();
}

// Returns nullptr if there is no subcommand `name`.
const CLI::App* FindSubcommand(const CLI::App& app, const std::string& name) {
  for (const CLI::App* sub : app.get_subcommands({})) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

// `before`: the words between the command's name and the word to complete.
void OfferWithin(const CLI::App& app, std::vector<std::string> before, const std::string& current,
                 CompletionBuilder* offers) {
  const bool has_subcommands = !app.get_subcommands({}).empty();
  if (has_subcommands && before.empty()) offers->AddSubcommands(app);
  if (!has_subcommands || before.empty()) {
    OfferArgument(app, before, current, offers);
  } else if (const CLI::App* sub = FindSubcommand(app, before[0])) {
    before.erase(before.begin());
    OfferArgument(*sub, before, current, offers);
  }
}

}  // namespace

std::string Phrase(const std::string& about) {
  int depth = 0;
  for (std::size_t i = 0; i < about.size(); ++i) {
    const char c = about[i];
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    const bool stop = c == '.' || c == ';' || c == ':';
    if (depth == 0 && stop && (i + 1 == about.size() || about[i + 1] == ' ')) return about.substr(0, i);
  }
  return about;
}

Completion CompleteLine(const std::vector<std::string>& line, const WordSources& known) {
  const std::string current = line.empty() ? "" : line.back();
  std::vector<std::string> before(line.begin(), line.empty() ? line.end() : line.end() - 1);
  const CommandDefinition& command = FindCommand(before.empty() ? "" : before[0]);
  Options unused;
  const CommandArguments arguments = command.build(&unused);
  CompletionBuilder offers(current, arguments.words, known);
  if (before.empty()) {
    for (const CommandDefinition& each : Commands()) {
      if (*each.name != '\0') offers.Add(each.name, Phrase(each.build(&unused).app->get_description()));
    }
  } else if (*command.name != '\0') {
    before.erase(before.begin());
    const std::optional<std::size_t> job =
        std::string_view(command.name) == "run" ? JobWord(*arguments.app, before, current) : std::nullopt;
    if (job) offers.AddJob(*job + 1);  // "run" is the first word
  }
  if (offers.fill() != Fill::kJob) OfferWithin(*arguments.app, std::move(before), current, &offers);
  return offers.Take();
}

std::string ToText(const Completion& completion) {
  std::string text = completion.fill == Fill::kFiles     ? fmt::format("files\t{}\n", completion.prefix)
                     : completion.fill == Fill::kFolders ? fmt::format("folders\t{}\n", completion.prefix)
                     : completion.fill == Fill::kJob     ? fmt::format("job\t{}\n", completion.job_begin)
                                                         : "none\n";
  for (const Word& word : completion.words) text += fmt::format("{}\t{}\n", word.text, word.about);
  return text;
}

std::string_view CompletionScript(Shell shell) {
  for (const Choice<Shell>& choice : kShells) {
    for (const EmbeddedFile& script : CompletionScripts()) {
      if (choice.value == shell && script.name == "whyoom." + std::string(choice.name)) return script.text;
    }
  }
  return {};
}

}  // namespace whyoom
