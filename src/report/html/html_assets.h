// Style sheet and script of the page, resources/html/*, as they were when the program was built; each as it is to
// stand in its element, where parsers of HTML and of XML read it alike.
#pragma once

#include <string_view>

namespace whyoom {

std::string_view PageStyle();
std::string_view PageScript();

}  // namespace whyoom
