#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>

#include "cli/exit_status.h"
#include "cli/print_report.h"
#include "cli/run_context.h"
#include "cli/terminal.h"
#include "input/error.h"
#include "report/explanation.h"
#include "report/failure_view.h"
#include "report/printers.h"
#include "report/text/text_printer.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::string_view kAll = "all";

// Finds a framework by id or name. Throws Error, which lists the frameworks (and "all" if `or_all`), if there is none.
const Framework& NamedFramework(const RuleSet& rules, const std::string& name, bool or_all) {
  if (const Framework* found = rules.FindFramework(name)) return *found;
  std::vector<std::string> known;
  for (const Framework& framework : rules.frameworks) known.push_back(framework.id);
  const std::string near = Nearest(LowerAscii(name), known);
  throw Error(fmt::format("--framework {}: unknown framework{} (expected one of {}{})", Printable(name),
                          near.empty() ? "" : fmt::format(", did you mean '{}'?", Printable(near)),
                          Printable(Listing(known)), or_all ? ", or all" : ""));
}

// Returns the frameworks whose steps are shown; empty for all.
Frameworks FrameworksOf(const RuleSet& rules, const std::string& asked) {
  if (asked == kAll) return {};
  if (asked.empty()) {
    const Framework* usual = rules.default_framework();
    return usual == nullptr ? Frameworks() : Frameworks{usual};
  }
  return {&NamedFramework(rules, asked, true)};
}

std::optional<Explanation> ExplanationOf(const RuleSet& rules, const std::string& given) {
  // "E1000.?" is how reports name an undecided scenario.
  const std::string topic = given.ends_with(kUndecidedSuffix) ? given.substr(0, given.rfind(kUndecidedSuffix)) : given;
  if (topic.empty()) return std::nullopt;
  if (std::optional<Explanation> found = FindExplanation(rules, topic)) return found;
  const std::string near = SuggestTopic(rules, topic);
  const std::string meant = near.empty() ? "" : fmt::format(", did you mean '{}'?", near);
  throw Error(
      fmt::format("unknown topic '{}'{} (`whyoom explain` lists the topics)", Printable(topic), Printable(meant)));
}

}  // namespace

int RunExplain(const RuleSet& rules, const Options& options) {
  const std::optional<Explanation> explanation = ExplanationOf(rules, options.paths.empty() ? "" : options.paths[0]);
  const Frameworks frameworks = FrameworksOf(rules, options.framework);
  const doc::Blocks blocks = explanation ? ExplanationBlocks(rules, *explanation, frameworks) : TopicBlocks(rules);
  WriteFormats(options, [&](Format format, const TextOptions& style) {
    return format == Format::kMarkdown ? PrintMarkdownPage(blocks) : PrintBlocks(blocks, style);
  });
  return kNothing;
}

std::string SelectedFramework(const Options& options, const RuleSource& rules) {
  return options.framework.empty() ? "" : NamedFramework(rules.rules(), options.framework, false).id;
}

}  // namespace whyoom
