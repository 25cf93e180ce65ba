// A place in an artifact.
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

// Compares by path and member (as bytes), then offset; the lines make the order total. Returns -1, 0 or 1.
int CompareWhere(const Where& a, const Where& b);

struct IsEarlier {
  bool operator()(const Where& a, const Where& b) const { return CompareWhere(a, b) < 0; }
};

// Returns `name` if it has at most `longest` (64 or more) bytes, else its beginning and a digest of the whole. This
// bounds the memory for hostile names, and different names stay different.
std::string BoundedName(const std::string& name, std::size_t longest);

// As BoundedName, for a path or a member, with secrets masked. The longest path that Linux opens is not shortened.
std::string BoundedPath(const std::string& path);

// Whether `path` is library code: an installed package (site-packages, dist-packages), Python's own library, or the
// source folders in vLLM's container images. Also true for code without a file ("<frozen runpy>", "<string>").
bool IsLibraryPath(std::string_view path);

// The last part of `path`.
std::string BaseName(std::string_view path);

// A library's file relative to the folder of installed packages ("flax/linen/linear.py"), or BaseName if there is none.
std::string PathInLibrary(std::string_view path);

// A short form of a source line: "train.py:41", or "Cell In[5], line 3" for a notebook cell, as IPython names it.
// Without a line number, only the file.
std::string SourceLineText(std::string_view path, const std::optional<std::int64_t>& line);

}  // namespace whyoom
