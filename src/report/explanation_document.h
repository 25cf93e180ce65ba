// The document of a topic of `whyoom explain`: a failure, a part of it, a remedy, or the list of topics. Text leaves
// out what is Depth::kMore: conditions, and sentences that only a log completes (Template::Outline).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "report/document.h"
#include "report/explanation.h"

namespace whyoom {

// Addresses of other topics. Without them there are no links.
struct PageLinks {
  std::function<std::string(const Remedy&)> remedy;
  std::function<std::string(const Failure&)> failure;
};

// The topic with each of its remedies.
doc::Blocks ExplanationBlocks(const RuleSet& rules, const Explanation& explanation, const Frameworks& frameworks);

// A failure without the steps of its remedies, and a remedy: pages that link to each other.
doc::Blocks FailureBlocks(const Explanation& explanation, const PageLinks& links);
doc::Blocks RemedyBlocks(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks,
                         const PageLinks& links);

// All failures with their scenarios, and all remedies.
doc::Blocks TopicBlocks(const RuleSet& rules, const PageLinks& links);

// An anchor, or the name of a file: letters, digits, ".", "_" and "-" as they are, other bytes in hexadecimal.
std::string PlainName(std::string_view id);

}  // namespace whyoom
