// The parts of the pages of the site.
#pragma once

#include <functional>
#include <string>

#include "report/explanation.h"
#include "report/html/html_writer.h"
#include "rules/rule_set.h"

namespace whyoom {

// Where a page finds the others, from where it lies.
struct SiteLinks {
  std::function<std::string(const Failure&)> failure;
  std::function<std::string(const Remedy&)> remedy;
};

// What the parts of a page are made of.
struct SiteContext {
  const RuleSet& rules;
  const Frameworks& frameworks;
  SiteLinks links;
};

// What it is, its contents, its scenarios, and each of its remedies once: what it does, its steps, code before and
// after. `explanation` is of a whole failure.
void AddFailurePage(const SiteContext& site, const Explanation& explanation, HtmlWriter* html);

// All that is known of a remedy.
void AddRemedyPage(const SiteContext& site, const Remedy& remedy, HtmlWriter* html);

// Codes, by when they happen.
void AddFailureList(const SiteContext& site, HtmlWriter* html);

// All remedies in a table.
void AddRemedyList(const SiteContext& site, HtmlWriter* html);

// What the words mean that advice is written in.
void AddTerms(HtmlWriter* html);

// A text of the rule data, in which names may stand between backquotes, in an element; nothing for an empty text.
void AddAdviceIn(std::string_view element, const std::string& text, HtmlWriter* html);

// A list; nothing where it is empty.
void AddAdviceList(const std::vector<std::string>& texts, HtmlWriter* html);

// Links of the rule data, those of the web as links.
void AddLinkList(const std::vector<Link>& links, HtmlWriter* html);

// Steps and code in each framework.
void AddHow(const SiteContext& site, const Remedy& remedy, int level, HtmlWriter* html);

}  // namespace whyoom
