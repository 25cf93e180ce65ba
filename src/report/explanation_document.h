// The document of a topic of `whyoom explain`: a failure, a part of one, a remedy, or the list of topics.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "report/document.h"
#include "report/explanation.h"

namespace whyoom {

// URLs of other topics; if unset, topics are not links.
struct PageLinks {
  std::function<std::string(const Remedy&)> remedy;
  std::function<std::string(const FailureRule&)> failure;
};

// The topic with all its remedies in full.
doc::Blocks ExplanationBlocks(const RuleSet& rules, const Explanation& explanation, const Frameworks& frameworks);

// Pages that link to each other: a failure without the steps of its remedies, and a remedy.
doc::Blocks FailureBlocks(const Explanation& explanation, const PageLinks& links);
doc::Blocks RemedyBlocks(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks,
                         const PageLinks& links);

// Lists all failures with their scenarios, and all remedies.
doc::Blocks TopicBlocks(const RuleSet& rules, const PageLinks& links);

// Makes an anchor or file name from `id`: keeps letters, digits, "_", "-", and "." unless it comes first or follows
// another ".". Writes other bytes in hexadecimal.
std::string PlainName(std::string_view id);

}  // namespace whyoom
