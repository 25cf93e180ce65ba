// The other thing that this program is started for: to read archives for a run of itself.
#pragma once

namespace whyoom {

// For the first line of main. Does not return where this process was started to read archives
// (input/archive/archive_server.h).
void ServeArchivesIfAsked(int argc, char** argv);

}  // namespace whyoom
