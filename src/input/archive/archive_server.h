// What a process does that was started to read archives for another one.
#pragma once

namespace whyoom {

// The name that such a process is started under, which is how the program knows that it is one; its one argument is the
// memory it may take.
constexpr const char* kArchiveServerName = "whyoom: reads archives";

// Its status where it needs more.
constexpr int kNoMemoryStatus = 12;

// Whether this process is one.
bool IsArchiveServer(int argc, char** argv);

// To be called where the signals of a terminal are ignored. Who started it ends it where it gets no further.
// Gives up files, network and whatever else unpacking does not need, then reads the archives it is given until nobody
// gives it any. Never returns.
[[noreturn]] void ServeArchives(const char* memory);

}  // namespace whyoom
