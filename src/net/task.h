#pragma once
// The coroutine type of all I/O code. A Task starts when it is awaited (or spawned), and runs on the one event-loop
// thread (loop.h), so what only tasks touch needs no lock; it changes hands only at a co_await.
//
// House rules, because GCC 12 miscompiles otherwise: a statement with co_await holds no brace initialiser, no capturing
// lambda and no `?:` of class type (name a variable, then `co_await f(std::move(variable))`). Parameters are taken by
// value, or by pointer or reference to something whose owner provably outlives the task. A lambda that captures is
// never itself a coroutine.
//
// Nothing here uses Asio's per-operation cancellation: a task is asked to end by a StopToken (stop.h), and every wait
// then returns an outcome instead of throwing.
#include <boost/asio/awaitable.hpp>

namespace assay::net {

template <class T = void>
using Task = boost::asio::awaitable<T>;

}  // namespace assay::net
