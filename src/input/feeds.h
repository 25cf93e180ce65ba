// Counts line feeds, as fast as the bytes can be read.
#pragma once

#include <cstddef>
#include <string_view>

namespace whyoom {

std::size_t CountFeeds(std::string_view bytes);

}  // namespace whyoom
