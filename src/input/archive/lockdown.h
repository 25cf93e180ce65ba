// Gives up what a process that unpacks has no need of.
#pragma once

#include <cstddef>

namespace whyoom {

// Whoever killed the run meant this process, too. It ends with the thread that started it.
void EndWithParent();

// Closes every descriptor but this one.
void CloseAllBut(int descriptor);

// From now on this process opens nothing, starts nothing, reaches nobody but over the descriptors it has, and takes at
// most `memory` bytes more than it has. Each as far as the system knows how.
void LockDown(std::size_t memory);

}  // namespace whyoom
