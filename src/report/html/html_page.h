// What every page of HTML begins with. A page is whole in itself: it fetches nothing, and its content security policy
// lets nothing run or load but its own style sheet and, where it has one, its own script.
#pragma once

#include <string>

#include "report/html/html_writer.h"

namespace whyoom {

// The element `head`.
void AddHead(const std::string& title, bool with_script, HtmlWriter* html);

// What the drawings of a page refer to; the first in its body.
void AddPatterns(HtmlWriter* html);

}  // namespace whyoom
