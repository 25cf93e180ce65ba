// The manual page, made from what --help is made from.
#pragma once

#include <string>

namespace whyoom {

// whyoom.1 as roff with the macros of man(7); ASCII.
std::string ManPage();

}  // namespace whyoom
