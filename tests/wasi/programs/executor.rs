//! async and await on an executor of its own: tasks that take turns, send to each other and wait for a time.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// The tasks that want to run, one bit each.
#[derive(Default)]
struct Ready(AtomicU64);

struct TaskWaker(Arc<Ready>, usize);

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.0 .0.fetch_or(1 << self.1, Ordering::SeqCst);
    }
}

fn run(mut tasks: Vec<Option<Pin<Box<dyn Future<Output = ()>>>>>) -> u32 {
    let ready = Arc::new(Ready(AtomicU64::new((1 << tasks.len()) - 1)));
    let mut polls = 0;
    while tasks.iter().any(Option::is_some) {
        let now = ready.0.swap(0, Ordering::SeqCst);
        for (at, slot) in tasks.iter_mut().enumerate().filter(|(at, _)| now >> at & 1 == 1) {
            let waker = Waker::from(Arc::new(TaskWaker(ready.clone(), at)));
            if let Some(task) = slot {
                polls += 1;
                if task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                    *slot = None;
                }
            }
        }
    }
    polls
}

/// Lets the other tasks run.
struct Yield(bool);

impl Future for Yield {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

struct Until(Instant);

impl Future for Until {
    type Output = Instant;
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Instant> {
        if Instant::now() >= self.0 {
            return Poll::Ready(self.0);
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[derive(Clone, Default)]
struct Channel(Rc<RefCell<(VecDeque<u32>, Option<Waker>)>>);

impl Channel {
    fn send(&self, value: u32) {
        let mut inner = self.0.borrow_mut();
        inner.0.push_back(value);
        inner.1.take().into_iter().for_each(Waker::wake);
    }
}

impl Future for Channel {
    type Output = u32;
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
        let mut inner = self.0.borrow_mut();
        match inner.0.pop_front() {
            Some(value) => Poll::Ready(value),
            None => {
                inner.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

async fn produce(channel: Channel) {
    for value in 1..=5 {
        println!("send {value}");
        channel.send(value * value);
        Yield(false).await;
    }
    channel.send(0);
}

async fn consume(mut channel: Channel) {
    let mut sum = 0;
    loop {
        match (&mut channel).await {
            0 => break,
            value => sum += value,
        }
        println!("sum {sum}");
    }
}

async fn wait() {
    let end = Instant::now() + Duration::from_millis(2);
    println!("waited: {}", Until(end).await == end);
}

fn main() {
    let channel = Channel::default();
    let polls = run(vec![Some(Box::pin(consume(channel.clone()))), Some(Box::pin(produce(channel)))]);
    println!("{polls} polls");
    run(vec![Some(Box::pin(wait()))]);
}
