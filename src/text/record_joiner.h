// Puts together the raw lines of a JSON record that stands on several, as `gcloud logging read --format=json` and `jq`
// print it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "input/line_scanner.h"

namespace whyoom {

class RecordJoiner {
 public:
  using Sink = std::function<void(const RawLine&)>;

  // Takes the next raw line and hands on what is complete: the line itself, or, at the end of a record, all of the
  // record as one raw line with line feeds in it. What began like a record and was none is handed on in the same way;
  // nothing is lost. What the sink gets is valid only while it is called.
  void Feed(const RawLine& raw, const Sink& sink);

  // Hands on what is open. Call at the end.
  void Flush(const Sink& sink);

  // Whether a record waits for its next line.
  bool open() const { return lines_ > 0; }

 private:
  void Open(const RawLine& raw, std::size_t indent);

  std::string bytes_;
  RawLine first_;
  std::size_t lines_ = 0;
  std::size_t indent_ = 0;
};

}  // namespace whyoom
