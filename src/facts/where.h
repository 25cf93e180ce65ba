// A place in an artifact: where a report stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "input/artifact.h"

namespace whyoom {

struct Where {
  Artifact artifact;
  std::uint64_t line = 0;
  std::uint64_t last_line = 0;
  std::uint64_t offset = 0;
};

// By path, member (as bytes) and offset; the lines only make the order total. Negative, 0 or positive.
int Order(const Where& a, const Where& b);

struct IsEarlier {
  bool operator()(const Where& a, const Where& b) const { return Order(a, b) < 0; }
};

// `name` itself where it takes at most `longest` bytes (64 or more), else its beginning and a digest of the whole: what
// is kept of hostile names is bounded, and different names stay different.
std::string BoundedName(const std::string& name, std::size_t longest);

// The same for a path or a member, with secrets masked: the longest that Linux opens stays whole.
std::string BoundedPath(const std::string& path);

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
