//! What shares and what locks, in a program with one thread; starting another is refused.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Mutex, Once, RwLock};
use std::thread;

struct Lazy<T, F: Fn() -> T> {
    value: RefCell<Option<Rc<T>>>,
    make: F,
}

impl<T, F: Fn() -> T> Lazy<T, F> {
    fn get(&self) -> Rc<T> {
        self.value.borrow_mut().get_or_insert_with(|| Rc::new((self.make)())).clone()
    }
}

struct Node {
    name: &'static str,
    parent: RefCell<Weak<Node>>,
    children: RefCell<Vec<Rc<Node>>>,
}

impl Node {
    fn new(name: &'static str) -> Rc<Node> {
        Rc::new(Node { name, parent: RefCell::default(), children: RefCell::default() })
    }
}

fn adopt(parent: &Rc<Node>, child: Rc<Node>) {
    *child.parent.borrow_mut() = Rc::downgrade(parent);
    parent.children.borrow_mut().push(child);
}

static MADE: AtomicUsize = AtomicUsize::new(0);
static FIRST: Once = Once::new();
thread_local!(static DEPTH: Cell<u32> = Cell::new(7));

fn main() {
    let lazy = Lazy { value: RefCell::new(None), make: || MADE.fetch_add(1, Ordering::SeqCst) };
    println!("lazy: {} {} {}", lazy.get(), lazy.get(), MADE.load(Ordering::SeqCst));

    let root = Node::new("root");
    adopt(&root, Node::new("leaf"));
    adopt(&root, Node::new("twig"));
    let leaf = root.children.borrow()[0].clone();
    println!("{} of {}", leaf.name, leaf.parent.borrow().upgrade().map_or("nothing", |node| node.name));
    println!("{} strong, {} weak", Rc::strong_count(&leaf), Rc::weak_count(&root));
    drop(root);
    println!("{} of {}", leaf.name, leaf.parent.borrow().upgrade().map_or("nothing", |node| node.name));

    let total = Arc::new(Mutex::new(HashMap::new()));
    for number in 0..10 {
        let shared = Arc::clone(&total);
        *shared.lock().unwrap().entry(number % 3).or_insert(0) += number;
    }
    let held = total.lock().unwrap();
    println!("{:?} {:?} {:?}; locked twice: {}", held[&0], held[&1], held[&2], total.try_lock().is_err());
    drop(held);
    let lock = RwLock::new(vec![1, 2]);
    println!("{}", lock.read().unwrap().len() + lock.read().unwrap().len());
    lock.write().unwrap().push(3);
    println!("{:?}", lock.into_inner().unwrap());

    for _ in 0..3 {
        FIRST.call_once(|| println!("once"));
    }
    DEPTH.with(|depth| depth.set(depth.get() + 1));
    println!("thread local: {}", DEPTH.with(Cell::get));
    let (sender, receiver) = mpsc::channel();
    (0..4).for_each(|value| sender.send(value * value).unwrap());
    drop(sender);
    println!("sent: {:?}", receiver.iter().collect::<Vec<_>>());
    println!("a thread: {:?}", thread::Builder::new().spawn(|| ()).map(|_| ()).unwrap_err().kind());
}
