// The lines of a source one after another, whatever their length: for files of a known format, where each line counts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "input/byte_source.h"

namespace whyoom {

class TextLines {
 public:
  // Borrows the source. Of a line longer than `longest` only the beginning is given.
  explicit TextLines(ByteSource& source, std::size_t longest = std::size_t{1} << 20);

  // The next line without its line feed, valid until the next call; false at the end.
  bool Next(std::string_view* line);

 private:
  bool Fill();

  ByteSource& source_;
  std::size_t longest_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool cutting_ = false;  // the rest of a line that is too long is being passed over
  bool at_end_ = false;
};

}  // namespace whyoom
