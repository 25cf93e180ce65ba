// Paths of source files as logs name them: which lie in a library, and how to name them briefly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whyoom {

// Whether `path` is a library's: installed (site-packages, dist-packages), Python's own, or where the serving images
// keep their sources. What no file holds ("<frozen runpy>", "<string>") counts as one too.
bool IsLibraryPath(std::string_view path);

// The last part of `path`.
std::string BaseName(std::string_view path);

// A library's file from its package on ("flax/linen/linear.py"); the last part where that does not show.
std::string PathInLibrary(std::string_view path);

// A line of a source as it is told briefly: "train.py:41"; a cell of a notebook as IPython names it: "Cell In[5], line
// 3". The file alone where the line is not known.
std::string TextOfLine(std::string_view path, const std::optional<std::int64_t>& line);

}  // namespace whyoom
