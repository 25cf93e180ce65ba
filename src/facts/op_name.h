// Op names as frameworks write them: "jit(step)/transpose(jvp(loss))/rematted_computation/mul". Only op_name.cc
// contains the words that differentiation, vmap and checkpointing wrap around the user's names.
#pragma once

#include <string>
#include <string_view>

namespace whyoom {

// Whether the operation is part of a gradient computation, including its forward pass.
bool IsInGradient(std::string_view op_name);

bool IsDifferentiated(std::string_view op_name);  // part of a function that is differentiated
bool IsTransposed(std::string_view op_name);      // part of a transposed linear function: mostly the backward pass
bool IsGradient(std::string_view op_name);        // both: the backward pass of reverse-mode differentiation

bool IsInCheckpoint(std::string_view op_name);  // within a function that the user marked for rematerialization

// Whether a loop runs again as a whole to rematerialize its values: a checkpoint is around it, not around its body.
bool IsRecomputedLoop(std::string_view op_name);

bool IsMapped(std::string_view op_name);      // under vmap
bool IsInShardMap(std::string_view op_name);  // per-device code, which sharding constraints do not reach
bool IsAttention(std::string_view op_name);   // in an attention scope, or an einsum over query and key axes

// Removes the parts that checkpointing inserts.
std::string WithoutCheckpoints(std::string op_name);

// Removes the wrappers of a part between slashes: "decoder" for "transpose(jvp(decoder))".
std::string_view WithoutWrappers(std::string_view part);

// Whether a part between slashes comes from a transformation or from control flow, and not from the user.
bool IsWrapper(std::string_view part);

}  // namespace whyoom
