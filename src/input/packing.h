// Tells packed input from text. Packed logs are not read yet; what is not read must be said, never be "nothing found".
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "input/byte_source.h"

namespace whyoom {

// The name of the format that bytes beginning like this are packed in ("gzip", "zip", …); empty for anything else.
std::string_view PackingOf(std::string_view beginning);

// A source that gives the same bytes as `source`, of whose beginning up to 512 bytes are put into `beginning`.
std::unique_ptr<ByteSource> Peek(std::unique_ptr<ByteSource> source, std::string* beginning);

}  // namespace whyoom
