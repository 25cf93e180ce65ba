// Files that a run writes.
#pragma once

#include <string>
#include <string_view>

namespace whyoom {

// Writes all of `text`, in whatever pieces it is taken. 0, or the errno of what went wrong.
int WriteAll(int descriptor, std::string_view text);

// Where a file of this name comes to lie: links are followed, also those to nothing, which is made when it is written.
std::string FinalName(const std::string& path);

// Makes `text` the content of the file: all of it, or, where there is no room, an end of the process or another fault,
// what was there before; of a file that is given to others under several names, that lies where no other may be made,
// or that a link to nothing is followed to, not even that. Links are followed where the system lets this user. The text
// is collected in ".NAME.whyoom-0123abcd" beside it. A file that a standard stream goes to gets the text by way of
// that. Throws Error where it cannot be written.
void WriteFile(std::string_view text, const std::string& path);

// Writes behind what the file holds, which is made where it is not there. Throws Error.
void AppendToFile(std::string_view text, const std::string& path);

}  // namespace whyoom
